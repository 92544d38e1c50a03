;;; typing.el --- The person types in the moment in which an edit is allowed  -*- lexical-binding: t; -*-

(drive-run
 (drive-open "code.py")
 (setq drive-choose
       (lambda (titles)
         (if (not (member "Allow once" titles))
             "Show…"
           (drive-type 1 0 "# typed\n")
           "Allow once")))
 (let ((before (drive-text)))
   (drive-command "turnbuckle.ask" :prompt "Mend it")

   (drive-same "completed" (drive-ended) "how the turn ended")
   (drive-same (concat "# typed\n" (string-replace "1/0" "1" before)) (drive-text) "the text")))

;;; typing.el ends here
