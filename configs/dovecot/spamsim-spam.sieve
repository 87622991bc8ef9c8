# What a user puts into Junk is spam. See 90-spamsim.conf.
require ["vnd.dovecot.pipe", "copy", "imapsieve"];

pipe :copy "spamsim" ["train", "--spam", "--quiet"];
