;;; lsp-mode.el --- Turnbuckle in Emacs with lsp-mode  -*- lexical-binding: t; -*-

;; Load this from your init file, and run M-x lsp in a file.
;; It stands beside the language's own server.

;;; Code:

(require 'lsp-mode)
(require 'lsp-lens)

(setq lsp-lens-enable t)

;; lsp-mode tells no server about a buffer whose language it has no name for.
(add-to-list 'lsp-language-id-configuration '(text-mode . "plaintext") t)

(defun turnbuckle--show (_workspace params)
  "Show the document that PARAMS name beside what you work on."
  (let ((buffer (find-file-noselect (lsp--uri-to-path (lsp-get params :uri)) t)))
    (with-current-buffer buffer
      (unless (or (buffer-modified-p) (verify-visited-file-modtime))
        (revert-buffer t t t))
      (setq buffer-read-only t))
    (display-buffer buffer)
    '(:success t)))

(defun turnbuckle--ask (_workspace params answer)
  "Put the question in PARAMS, and give ANSWER what you choose.
Quit it to leave it open: you can still decide in the menu of code actions and the lenses."
  (run-at-time 0 nil (lambda ()
                       (condition-case nil
                           (funcall answer
                                    (list :title (lsp--window-log-message-request params)))
                         (quit nil)))))

(define-advice lsp--parser-on-message (:around (take message workspace) to-the-end)
  "TAKE MESSAGE of WORKSPACE; where it is an answer that was waited for, go on with the next one.
lsp-mode 8.0 loses what comes together with such an answer: an edit, for example."
  (catch 'lsp-done (funcall take message workspace)))

;; lsp-mode 8.0 has its own word on what it can show, which would stand before ours.
(define-advice lsp--client-capabilities (:around (build &optional custom) custom-first)
  "Let CUSTOM capabilities stand for those of the same name that BUILD gives."
  (append custom (seq-remove (lambda (one) (assq (car one) custom)) (funcall build))))

(lsp-register-client
 (make-lsp-client
  :server-id 'turnbuckle
  :new-connection (lsp-stdio-connection '("turnbuckle" "serve"))
  :activation-fn (lambda (&rest _) t)
  :add-on? t
  :priority -10
  :custom-capabilities '((window . ((workDoneProgress . t) (showDocument . ((support . t))))))
  :request-handlers (ht ("window/showDocument" #'turnbuckle--show))
  :async-request-handlers (ht ("window/showMessageRequest" #'turnbuckle--ask))))

(defun turnbuckle-run (command &rest argument)
  "Run COMMAND of the server, with ARGUMENT, a plist; it answers at once."
  (let ((workspace (seq-find (lambda (one)
                               (eq (lsp--client-server-id (lsp--workspace-client one)) 'turnbuckle))
                             (lsp-workspaces))))
    (unless workspace (user-error "Turnbuckle does not run here"))
    (with-lsp-workspace workspace
      (lsp-workspace-command-execute command (when argument (vector argument))))))

(defun turnbuckle-ask (prompt)
  "Ask the agent to do PROMPT, with the region or the file going along."
  (interactive "sAsk the agent: ")
  (apply #'turnbuckle-run "turnbuckle.ask" :prompt prompt
         (when buffer-file-name
           (append (list :uri (lsp--buffer-uri))
                   (when (use-region-p)
                     (list :range (lsp--region-to-range (region-beginning) (region-end))))))))

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

;; Everything about the place where you are stands in the menu of code actions and in the lenses:
;; asking, fixing, and accepting, rejecting or undoing what the agent proposes there.
(define-key lsp-mode-map (kbd "C-c a a") #'turnbuckle-ask)
(define-key lsp-mode-map (kbd "C-c a m") #'lsp-execute-code-action)
(define-key lsp-mode-map (kbd "C-c a l") #'lsp-avy-lens)
(define-key lsp-mode-map (kbd "C-c a c") #'turnbuckle-cancel)
(define-key lsp-mode-map (kbd "C-c a p") #'turnbuckle-approve)
(define-key lsp-mode-map (kbd "C-c a d") #'turnbuckle-diff)
(define-key lsp-mode-map (kbd "C-c a t") #'turnbuckle-transcript)

;;; lsp-mode.el ends here
