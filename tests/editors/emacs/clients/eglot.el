;;; eglot.el --- What the scenarios need of eglot  -*- lexical-binding: t; -*-

;;; Code:

(load (getenv "EXAMPLE") nil t)
(setq eglot-sync-connect drive-limit eglot-events-buffer-size 0)

(advice-add #'eglot-handle-notification :before
            (lambda (_server method &rest params)
              (when (eq method '$/progress)
                (push (cons (plist-get params :token) (plist-get params :value))
                      drive-progress))))

;; Emacs shows "Quit" for two seconds where a prompt is quit that the server asked for.
(advice-add #'jsonrpc--process-filter :around
            (lambda (filter &rest arguments)
              (condition-case nil (apply filter arguments) (quit nil))))

(defun drive-start ()
  "Start the server for the buffer."
  (apply #'eglot (eglot--guess-contact))
  (drive-wait "a server" (lambda () (and eglot--managed-mode (eglot-current-server)))))

(defun drive-tell ()
  "Tell the server what was typed, which eglot does when Emacs is idle."
  (eglot--signal-textDocument/didChange))

(defun drive-menu ()
  "The menu of code actions at point."
  (let ((last-nonmenu-event t)) (eglot-code-actions (point) (point) nil t)))

(defun drive-accept (line)
  "Accept the place in LINE; eglot has no lenses."
  (drive-pick line "Accept"))

(defun drive-hints ()
  "What is marked in the buffer: (line message) for each."
  (with-current-buffer drive-buffer
    (sort (mapcar (lambda (one)
                    (list (line-number-at-pos (flymake-diagnostic-beg one))
                          (string-remove-prefix "turnbuckle: " (flymake-diagnostic-text one))))
                  (flymake-diagnostics))
          (lambda (one other) (< (car one) (car other))))))

(defun drive-outcome (command &rest argument)
  "What came of COMMAND with ARGUMENT, as the server answers it."
  (plist-get (apply #'drive-command command argument) :outcome))

(defun drive-notify (method &rest params)
  "Send a notification."
  (jsonrpc-notify (eglot-current-server) method params))

;;; eglot.el ends here
