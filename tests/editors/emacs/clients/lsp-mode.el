;;; lsp-mode.el --- What the scenarios need of lsp-mode  -*- lexical-binding: t; -*-

;;; Code:

(require 'lsp-mode)
(setq lsp-session-file (expand-file-name "lsp-session" user-emacs-directory)
      lsp-server-install-dir (expand-file-name "lsp-servers" user-emacs-directory)
      lsp-client-packages nil lsp-enable-file-watchers nil lsp-auto-configure t
      lsp-response-timeout drive-limit lsp-enable-snippet nil lsp-restart 'ignore lsp-warn-no-matched-clients nil)
(load (getenv "EXAMPLE") nil t)

(advice-add #'lsp--on-notification :before
            (lambda (_workspace notification)
              (when (equal (lsp-get notification :method) "$/progress")
                (let* ((params (lsp-get notification :params))
                       (value (lsp-get params :value)))
                  (push (cons (lsp-get params :token)
                              (list :kind (lsp-get value :kind) :message (lsp-get value :message)))
                        drive-progress)))))

(defun drive-start ()
  "Start the server for the buffer."
  (lsp-workspace-folders-add default-directory)
  (lsp)
  (drive-wait "a server" (lambda ()
                           (when-let ((workspace (car (lsp-workspaces))))
                             (eq (lsp--workspace-status workspace) 'initialized)))))

(defun drive-tell ()
  "Nothing waits: lsp-mode tells the server of each change at once.")

(defun drive-menu ()
  "The menu of code actions at point."
  (call-interactively #'lsp-execute-code-action))

(defun drive-accept (line)
  "Accept the place in LINE by a click on its lens."
  (with-current-buffer drive-buffer
    (let ((lens (drive-wait
                 (format "a lens in line %s" line)
                 (lambda ()
                   (seq-find (lambda (one)
                               (= line (line-number-at-pos (overlay-get one 'lsp-lens-position))))
                             lsp-lens--overlays)))))
      (funcall (get-text-property 0 'action (car (overlay-get lens 'lsp--metadata)))))))

(defun drive-hints ()
  "What is marked in the buffer: (line message) for each."
  (with-current-buffer drive-buffer
    (mapcar (lambda (one)
              (list (1+ (lsp-get (lsp-get (lsp-get one :range) :start) :line))
                    (lsp-get one :message)))
            (lsp--get-buffer-diagnostics))))

(defun drive-outcome (command &rest argument)
  "What came of COMMAND with ARGUMENT, as the server answers it."
  (lsp-get (apply #'drive-command command argument) :outcome))

(defun drive-notify (method &rest params)
  "Send a notification."
  (with-lsp-workspace (car (lsp-workspaces))
    (lsp-notify (substring (symbol-name method) 1) params)))

;;; lsp-mode.el ends here
