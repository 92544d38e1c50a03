;;; undo.el --- What was applied is undone by the editor, by an action and by a command  -*- lexical-binding: t; -*-

(drive-run
 (drive-person 'dismiss)
 (drive-open "code.py")
 (let ((before (drive-text)))
   (drive-command "turnbuckle.ask" :prompt "Mend it")
   (drive-fact "approval/asked")

   (drive-pick 2 "Accept")
   (drive-fact "edit/applied")
   (drive-same (string-replace "1/0" "1" before) (drive-text) "after the first")
   (drive-undo)
   (drive-same before (drive-text) "after the editor's undo")
   (drive-fact "edit/undone")

   (drive-pick 8 "Accept")
   (drive-fact "edit/applied" 2)
   (drive-same (string-replace "2/0" "2" before) (drive-text) "after the second")
   (drive-pick 8 "Undo")
   (drive-fact "edit/undone" 2)
   (drive-same before (drive-text) "after the action")

   (drive-command "turnbuckle.acceptHunk") ; the only one that is left
   (drive-same "completed" (drive-ended) "how the turn ended")
   (drive-same (string-replace "3/0" "3" before) (drive-text) "after the third")
   (drive-command "turnbuckle.undoHunk") ; the only one that stands
   (drive-fact "edit/undone" 3)
   (drive-same before (drive-text) "after the command")

   (drive-command "turnbuckle.ask" :prompt "And now?")
   (drive-same "completed" (drive-ended 2) "how the second turn ended")))

;;; undo.el ends here
