;;; cancel.el --- A turn is cancelled by a command, by its progress, and while it asks  -*- lexical-binding: t; -*-

(drive-run
 (drive-person 'dismiss)
 (drive-open "code.py")
 (let ((before (drive-text))
       (asking (lambda (count)
                 (drive-wait
                  (format "model %s that is asked" count)
                  (lambda ()
                    (nth (1- count)
                         (seq-filter (lambda (one)
                                       (equal (plist-get (cdr one) :message) "asking played"))
                                     (reverse drive-progress))))))))
   (drive-command "turnbuckle.ask" :prompt "Talk")
   (funcall asking 1)
   (drive-command "turnbuckle.cancel")
   (drive-same "aborted" (drive-ended) "how the first turn ended")

   (drive-command "turnbuckle.ask" :prompt "Talk")
   (drive-notify :window/workDoneProgress/cancel :token (car (funcall asking 2)))
   (drive-same "aborted" (drive-ended 2) "how the second turn ended")

   (drive-command "turnbuckle.ask" :prompt "Mend it")
   (drive-wait "a prompt" (lambda () drive-prompts))
   (drive-command "turnbuckle.cancel")
   (drive-same "aborted" (drive-ended 3) "how the third turn ended")
   (drive-same before (drive-text) "the text")

   (drive-command "turnbuckle.ask" :prompt "Be short")
   (drive-same "completed" (drive-ended 4) "how the fourth turn ended")))

;;; cancel.el ends here
