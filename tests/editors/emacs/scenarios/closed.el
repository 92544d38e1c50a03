;;; closed.el --- Files that are not open are edited on disk  -*- lexical-binding: t; -*-

(drive-run
 (drive-person "Allow once" "Show…")
 (drive-open "code.py")
 (let ((before (drive-text)))
   (drive-command "turnbuckle.ask" :prompt "Mend the other one")
   (drive-same "completed" (drive-ended) "how the turn ended")
   (drive-same nil (find-buffer-visiting "other.txt") "a buffer for it")
   (drive-same before (drive-text) "the person's text")))

;;; closed.el ends here
