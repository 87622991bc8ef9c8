# Files bulk mail into Junk. Mail that is bulk by right (newsletters that somebody took out of Junk, or that an exempt rule
# names) has the verdict exempt and stays. Tried with Dovecot's Pigeonhole; any Sieve with fileinto will do (":create" and
# "mailbox" are RFC 5490's: without them the folder has to be there).
require ["fileinto", "mailbox"];

if header :matches "X-Spamsim" "bulk;*" {
  fileinto :create "Junk";
  stop;
}
