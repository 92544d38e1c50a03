;;; stale.el --- The person types inside a place: it is not made, until that is undone  -*- lexical-binding: t; -*-

(drive-run
 (drive-person 'dismiss)
 (drive-open "code.py")
 (let ((before (drive-text)))
   (drive-command "turnbuckle.ask" :prompt "Mend it")
   (drive-fact "approval/asked")

   (drive-type 2 11 "7+")
   (drive-type 8 11 "7+")
   (drive-undo)
   (drive-same (string-replace "1/0" "7+1/0" before) (drive-text) "what was typed")
   (drive-same "stale" (drive-outcome "turnbuckle.acceptHunk" :hunkId (drive-hunk 0))
               "what comes of the place that was typed in")
   (drive-pick 8 "Accept") ; what was typed there is undone, so it can be made again
   (drive-fact "edit/applied")
   (drive-pick 14 "Accept")
   (drive-fact "edit/applied" 2)
   (drive-pick 2 "Reject")

   (drive-same "completed" (drive-ended) "how the turn ended")
   (drive-same (thread-last before
                            (string-replace "1/0" "7+1/0")
                            (string-replace "2/0" "2")
                            (string-replace "3/0" "3"))
               (drive-text) "the text")))

;;; stale.el ends here
