;;; approve.el --- An edit of three places is shown, allowed and made  -*- lexical-binding: t; -*-

(drive-run
 (drive-person "Allow once" "Show…")
 (drive-open "code.py")
 (drive-type 1 0 "# typed, not saved\n")
 (let* ((saved (drive-disk "code.py"))
        (before (drive-text))
        (after (replace-regexp-in-string "/0" "" before)))
   (drive-command "turnbuckle.ask" :prompt "Mend it")

   (drive-same "completed" (drive-ended) "how the turn ended")
   (drive-same after (drive-text) "the text")
   (drive-same '(("Show…" "Reject")
                 ("Show…" "Allow once" "Allow for this session" "Reject"))
               (mapcar #'cdr (reverse drive-prompts)) "the prompts")
   (drive-shown ".diff" "-    return 1/0\n+    return 1\n")

   (drive-same saved (drive-disk "code.py") "the file before it is saved")
   (drive-undo)
   (drive-same before (drive-text) "one undo takes all of the edit back, and nothing else")
   (drive-fact "edit/undone")
   (drive-redo)
   (drive-save)
   (drive-same after (drive-disk "code.py") "the file once it is saved")))

;;; approve.el ends here
