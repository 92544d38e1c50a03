;;; unsaved.el --- The agent sees what is not saved, and is told that a command does not  -*- lexical-binding: t; -*-

(drive-run
 (drive-person "Allow once" "Show…")
 (drive-open "code.py")
 (drive-type 1 0 "# typed, not saved\n")
 (let ((before (drive-text)))
   (drive-command "turnbuckle.ask" :prompt "Look at it")
   (drive-same "completed" (drive-ended) "how the turn ended")
   (drive-same before (drive-text) "the person's text")
   (drive-same t (buffer-modified-p drive-buffer) "whether it is still unsaved")))

;;; unsaved.el ends here
