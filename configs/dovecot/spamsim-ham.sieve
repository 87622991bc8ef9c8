# What a user takes out of Junk is good mail, unless he throws it away. See 90-spamsim.conf.
require ["vnd.dovecot.pipe", "copy", "imapsieve", "environment", "variables"];

if environment :matches "imap.mailbox" "*" {
  set "mailbox" "${1}";
}
if not string :is "${mailbox}" ["Trash", "Deleted Items", "Deleted Messages"] {
  pipe :copy "spamsim" ["train", "--ham", "--quiet"];
}
