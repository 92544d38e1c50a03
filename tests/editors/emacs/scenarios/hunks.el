;;; hunks.el --- One place of three is accepted where it stands  -*- lexical-binding: t; -*-

(drive-run
 (drive-person 'dismiss)
 (drive-open "code.py")
 (let ((before (drive-text)))
   (drive-command "turnbuckle.ask" :prompt "Mend it")
   (drive-same '((2 "+1 −1: return 1") (8 "+1 −1: return 2") (14 "+1 −1: return 3"))
               (drive-wait "three hints"
                           (lambda ()
                             (let ((hints (drive-hints))) (and (= 3 (length hints)) hints))))
               "the hints")

   (drive-accept 8)
   (drive-fact "edit/applied")
   (drive-same (string-replace "2/0" "2" before) (drive-text) "after one was accepted")
   (drive-pick 2 "Reject")
   (drive-command "turnbuckle.rejectHunk") ; the only one that is left

   (drive-same "completed" (drive-ended) "how the turn ended")
   (drive-wait "no hints" (lambda () (not (drive-hints))))
   (drive-same (string-replace "2/0" "2" before) (drive-text) "the text")))

;;; hunks.el ends here
