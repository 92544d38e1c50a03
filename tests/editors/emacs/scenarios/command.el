;;; command.el --- A prompt that was left is answered by a command  -*- lexical-binding: t; -*-

(drive-run
 (drive-person 'dismiss)
 (drive-open "code.py")
 (drive-command "turnbuckle.ask" :prompt "Run it")
 (drive-wait "a prompt" (lambda () drive-prompts))
 (drive-same nil (file-exists-p "ran") "nothing ran yet")

 (drive-command "turnbuckle.approve") ; without an id it only asks again
 (drive-wait "a second prompt" (lambda () (cdr drive-prompts)))
 (drive-same nil (drive-facts "approval/decided") "what is decided yet")
 (let ((id (plist-get (drive-fact "approval/asked") :approvalId)))
   (drive-command "turnbuckle.approve" :approvalId id))

 (drive-same "completed" (drive-ended) "how the turn ended")
 (drive-same "ran\n" (drive-disk "ran") "what the command left"))

;;; command.el ends here
