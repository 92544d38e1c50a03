;;; ask.el --- A code action asks, progress streams, the answer is shown  -*- lexical-binding: t; -*-

(drive-run
 (drive-open "code.py")
 (let ((before (drive-text)))
   (drive-pick 2 "Ask the agent")

   (drive-same "completed" (drive-ended) "how the turn ended")
   (let ((values (mapcar #'cdr (reverse drive-progress))))
     (drive-same "begin" (plist-get (car values) :kind) "the first of the progress")
     (drive-same "end" (plist-get (car (last values)) :kind) "the last of the progress")
     ;; Emacs is slow to say that it shows progress: until then, a tool may have come and gone.
     (unless (seq-some (lambda (one)
                         (member (plist-get one :message) '("asking played" "list_files")))
                       values)
       (error "What is done now is named: %S" values)))
   (drive-shown ".md" "It divides by zero.")
   (drive-same before (drive-text) "the person's text")))

;;; ask.el ends here
