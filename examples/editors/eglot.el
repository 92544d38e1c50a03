;;; eglot.el --- Turnbuckle in Emacs with eglot  -*- lexical-binding: t; -*-

;; Load this from your init file, open a file, and start it with M-x eglot.
;; Eglot runs one server for a buffer: Turnbuckle takes the place of the language's own there.
;; Use lsp-mode to have both.

;;; Code:

(require 'eglot)

(defclass turnbuckle-server (eglot-lsp-server) ()
  :documentation "Turnbuckle, as eglot knows it.")

(add-to-list 'eglot-server-programs
             '((prog-mode text-mode conf-mode) . (turnbuckle-server "turnbuckle" "serve")))

;; You were asked for each change already; eglot would ask a second time.
(setq eglot-confirm-server-initiated-edits nil)

;; Emacs 28 leaves unread what comes together with an answer that it waited for, or with a question
;; that you quit, until the server happens to say more.
(define-advice jsonrpc--process-filter (:around (read process text) to-the-end)
  "READ all of TEXT from PROCESS, also where an answer in it ends the reading."
  (let (all)
    (unwind-protect (progn (funcall read process text) (setq all t))
      (unless all
        (run-at-time 0 nil #'jsonrpc--process-filter process "")))))

(cl-defmethod eglot-client-capabilities :around ((_server turnbuckle-server))
  "Say that documents can be shown, such as the answers of the agent."
  (let ((all (copy-sequence (cl-call-next-method))))
    (plist-put all :window (append '(:workDoneProgress t :showDocument (:support t))
                                   (plist-get all :window)))))

(cl-defmethod eglot-handle-request
  ((_server turnbuckle-server) (_method (eql window/showDocument)) &key uri &allow-other-keys)
  "Show the document URI beside what you work on."
  (let ((buffer (find-file-noselect (eglot--uri-to-path uri) t)))
    (with-current-buffer buffer
      (unless (or (buffer-modified-p) (verify-visited-file-modtime))
        (revert-buffer t t t))
      (setq buffer-read-only t))
    (display-buffer buffer)
    '(:success t)))

(cl-defmethod eglot-handle-request
  ((_server turnbuckle-server) (_method (eql window/workDoneProgress/create))
   &key &allow-other-keys)
  "Progress is shown in the echo area; there is nothing to prepare for it."
  nil)

(cl-defmethod eglot-handle-notification
  ((_server turnbuckle-server) (_method (eql $/progress)) &key value &allow-other-keys)
  "Say what the agent does now."
  (let ((said (plist-get value :message)))
    (when (and said (plist-get value :kind))
      (message "agent: %s" said))))

(defun turnbuckle-run (command &rest argument)
  "Run COMMAND of the server, with ARGUMENT, a plist; it answers at once."
  (let ((server (eglot--current-server-or-lose)))
    (eglot--signal-textDocument/didChange) ; what was typed just now is told first
    (eglot-execute-command server command (if argument (vector argument) []))))

(defun turnbuckle-ask (prompt)
  "Ask the agent to do PROMPT, with the region or the file going along."
  (interactive "sAsk the agent: ")
  (apply #'turnbuckle-run "turnbuckle.ask" :prompt prompt
         (when buffer-file-name
           (append (list :uri (plist-get (eglot--TextDocumentIdentifier) :uri))
                   (when (use-region-p)
                     (list :range (list :start (eglot--pos-to-lsp-position (region-beginning))
                                        :end (eglot--pos-to-lsp-position (region-end)))))))))

(defmacro turnbuckle--command (name command doc)
  "Define NAME, which runs COMMAND; DOC says what for."
  `(defun ,name () ,doc (interactive) (turnbuckle-run ,command)))

(turnbuckle--command turnbuckle-cancel "turnbuckle.cancel" "Cancel the turn that runs.")
(turnbuckle--command turnbuckle-approve "turnbuckle.approve" "Show the question that waits.")
(turnbuckle--command turnbuckle-reject "turnbuckle.reject" "Say no to the question that waits.")
(turnbuckle--command turnbuckle-diff "turnbuckle.showDiff" "Show what the agent proposes.")
(turnbuckle--command turnbuckle-accept-all "turnbuckle.acceptAll" "Accept the proposed change.")
(turnbuckle--command turnbuckle-undo-turn "turnbuckle.undoTurn" "Take the last turn back.")
(turnbuckle--command turnbuckle-new "turnbuckle.newSession" "Begin a new session.")
(turnbuckle--command turnbuckle-resume "turnbuckle.resume" "Go on with what was interrupted.")
(turnbuckle--command turnbuckle-transcript "turnbuckle.showTranscript" "Show the conversation.")

;; Everything about the place where you are stands in the menu of code actions:
;; asking, fixing, and accepting, rejecting or undoing what the agent proposes there.
(define-key eglot-mode-map (kbd "C-c a a") #'turnbuckle-ask)
(define-key eglot-mode-map (kbd "C-c a m") #'eglot-code-actions)
(define-key eglot-mode-map (kbd "C-c a c") #'turnbuckle-cancel)
(define-key eglot-mode-map (kbd "C-c a p") #'turnbuckle-approve)
(define-key eglot-mode-map (kbd "C-c a d") #'turnbuckle-diff)
(define-key eglot-mode-map (kbd "C-c a t") #'turnbuckle-transcript)

;;; eglot.el ends here
