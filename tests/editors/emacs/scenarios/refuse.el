;;; refuse.el --- An edit is rejected in its prompt, another by a command  -*- lexical-binding: t; -*-

(drive-run
 (drive-open "code.py")
 (let ((before (drive-text)) (tick (buffer-chars-modified-tick)))
   (drive-person "Reject")
   (drive-command "turnbuckle.ask" :prompt "Mend it")
   (drive-same "completed" (drive-ended) "how the first turn ended")

   (drive-person 'dismiss)
   (drive-command "turnbuckle.ask" :prompt "Mend it otherwise")
   (drive-wait "a second prompt" (lambda () (cdr drive-prompts)))
   (drive-command "turnbuckle.reject")
   (drive-same "completed" (drive-ended 2) "how the second turn ended")

   (drive-same before (drive-text) "the text")
   (drive-same tick (with-current-buffer drive-buffer (buffer-chars-modified-tick))
               "nothing was changed and changed back")))

;;; refuse.el ends here
