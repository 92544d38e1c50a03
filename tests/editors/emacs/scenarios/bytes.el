;;; bytes.el --- A file with a byte order mark, CRLF and emoji is edited and saved  -*- lexical-binding: t; -*-

(drive-run
 (drive-person "Allow once" "Show…")
 (drive-open "code.py")
 (drive-command "turnbuckle.ask" :prompt "Mend it")
 (drive-same "completed" (drive-ended) "how the turn ended")
 (drive-wait "the new text" (lambda () (string-search "new 🦀" (drive-text))))
 (drive-save))

;;; bytes.el ends here
