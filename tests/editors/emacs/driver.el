;;; driver.el --- What the scenarios share  -*- lexical-binding: t; -*-

;; Emacs runs in batch, so nobody presses keys: whoever waits does what the command loop does
;; between two keys, and `completing-read' asks the person whom the scenario brings.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'subr-x)

(setq make-backup-files nil auto-save-default nil create-lockfiles nil
      project-find-functions nil vc-handled-backends nil
      backtrace-on-error-noninteractive nil
      ;; A prompt that is quit ends what asked; in batch, Emacs would end with it.
      command-error-function
      (lambda (data context _caller)
        (unless (eq (car data) 'quit) (message "%s%S" context data)))
      user-emacs-directory (file-name-as-directory (getenv "HOME")))

;; -Q leaves out the packages that Debian installs.
(dolist (folder (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa/*" t))
  (push folder load-path)
  (dolist (loads (file-expand-wildcards (concat folder "/*-autoloads.el") t))
    (load loads nil t)))

(defconst drive-limit 20 "Seconds after which what did not come will not come.")

(defvar drive-buffer nil "The buffer that the person works in.")
(defvar drive-progress nil "The values of work-done progress, the last first, with their tokens.")
(defvar drive-prompts nil "The prompts of the server, the last first: (text . titles).")
(defvar drive-choose (lambda (&rest _) (error "Nobody is prompted"))
  "What the person says to a prompt: called with its titles, gives one of them, or `dismiss'.")
(defvar drive-picking nil "How the title begins that is to be picked in a menu.")

;; What a client does in its own way; its file in clients/ defines them.
(declare-function drive-start "client")
(declare-function drive-tell "client")
(declare-function drive-menu "client")
(declare-function drive-notify "client")
(declare-function drive-accept "client")
(declare-function drive-hints "client")
(declare-function drive-outcome "client")
(declare-function turnbuckle-run "example")

(defun drive--idle ()
  "Do what Emacs does when the person rests."
  (with-current-buffer drive-buffer
    (undo-auto--add-boundary)
    (drive-tell)))

(defun drive-wait (what look)
  "Wait until LOOK gives something, and give it; an error names WHAT did not come."
  (let ((deadline (+ (float-time) drive-limit)) found)
    (while (not (setq found (funcall look)))
      (when (> (float-time) deadline) (error "Not in time: %s" what))
      (drive--idle)
      (condition-case nil (accept-process-output nil 0.02) (quit nil)))
    found))

(defun drive-same (expected actual what)
  "Fail, naming WHAT, unless EXPECTED and ACTUAL are equal."
  (unless (equal expected actual)
    (error "%s: expected %S, got %S" what expected actual)))

(defun drive--read (prompt collection &rest _)
  "In place of `completing-read': PROMPT and COLLECTION are shown to the person."
  (let ((titles (mapcar (lambda (one) (if (consp one) (car one) one)) collection)))
    (if (not (string-search "Turnbuckle" prompt)) ; a menu of the editor's own
        (or (seq-find (apply-partially #'string-prefix-p drive-picking) titles)
            (error "Nothing like %S among %S" drive-picking titles))
      (push (cons (substring-no-properties prompt) (mapcar #'substring-no-properties titles))
            drive-prompts)
      (let ((said (funcall drive-choose (cdar drive-prompts))))
        (if (stringp said) said (signal 'quit nil))))))

(advice-add #'completing-read :override #'drive--read)

(defun drive-person (&rest answers)
  "Let the person give the first of ANSWERS that a prompt offers, or dismiss it."
  (setq drive-choose
        (lambda (titles) (or (seq-find (lambda (one) (member one titles)) answers) 'dismiss))))

(defun drive-open (name)
  "Open the file NAME, and start the server for it."
  (setq drive-buffer (find-file-noselect name))
  (set-window-buffer (selected-window) drive-buffer)
  (set-buffer drive-buffer)
  (drive-start))

(defun drive-text ()
  "The whole text of the person's buffer."
  (with-current-buffer drive-buffer (buffer-substring-no-properties (point-min) (point-max))))

(defun drive-disk (name)
  "The text of the file NAME as it stands on disk."
  (with-temp-buffer
    (let ((coding-system-for-read 'utf-8-unix)) (insert-file-contents name))
    (buffer-string)))

(defun drive-type (line column text)
  "Type TEXT in LINE, counted from 1, after COLUMN characters."
  (with-current-buffer drive-buffer
    (undo-boundary)
    (goto-char (point-min))
    (forward-line (1- line))
    (forward-char column)
    (insert text)
    (undo-boundary)))

(defun drive-undo ()
  "Undo the last change of the buffer, as the person does."
  (with-current-buffer drive-buffer
    (drive--idle)
    (let ((last-command nil) (inhibit-message t)) (undo-only 1))
    (drive--idle)))

(defun drive-redo ()
  "Make again what was undone last."
  (with-current-buffer drive-buffer
    (let ((last-command 'undo) (inhibit-message t)) (undo-redo 1))
    (drive--idle)))

(defun drive-save ()
  "Save the buffer."
  (with-current-buffer drive-buffer (let ((inhibit-message t)) (save-buffer))))

(defun drive-pick (line title)
  "Pick the code action whose title begins with TITLE, in the menu of LINE."
  (with-current-buffer drive-buffer
    (goto-char (point-min))
    (forward-line (1- line))
    (back-to-indentation)
    (let ((drive-picking title)) (drive-menu))))

(defun drive-command (command &rest argument)
  "Run COMMAND of the server with ARGUMENT, a plist."
  (with-current-buffer drive-buffer (apply #'turnbuckle-run command argument)))

(defun drive-facts (type)
  "The data of the facts of this TYPE in the session's log, as they stand on disk."
  (let ((folder (expand-file-name "sessions" (getenv "TURNBUCKLE_STATE_DIR"))) found)
    (dolist (file (and (file-directory-p folder)
                       (directory-files-recursively folder "\\.jsonl\\'")))
      (dolist (line (split-string (drive-disk file) "\n" t))
        ;; What is written just now may be no whole line yet.
        (when-let* ((fact (ignore-errors (json-parse-string line :object-type 'plist)))
                    ((equal (plist-get fact :type) type)))
          (push (plist-get fact :data) found))))
    (nreverse found)))

(defun drive-fact (type &optional count)
  "The data of fact number COUNT, or 1, of this TYPE, once it is in the log."
  (drive-wait (format "%s %s" type (or count 1))
              (lambda () (nth (1- (or count 1)) (drive-facts type)))))

(defun drive-hunk (index)
  "The id of the hunk with this INDEX, counted from 0, of what was asked last."
  (let* ((asked (car (last (drive-facts "approval/asked"))))
         (file (aref (plist-get (plist-get asked :subject) :files) 0)))
    (plist-get (aref (plist-get file :hunks) index) :hunkId)))

(defun drive-ended (&optional count)
  "How turn number COUNT, or 1, ended, as its progress said it."
  (let ((ends (lambda ()
                (seq-filter (lambda (one) (equal (plist-get (cdr one) :kind) "end"))
                            (reverse drive-progress)))))
    (drive-wait (format "the end of progress %s" (or count 1))
                (lambda ()
                  (plist-get (cdr (nth (1- (or count 1)) (funcall ends))) :message)))))

(defun drive-shown (ending wanted)
  "The text of a buffer whose file has this ENDING, once there is one with WANTED in it."
  (drive-wait
   (format "a shown %s with %S" ending wanted)
   (lambda ()
     (seq-some (lambda (buffer)
                 (with-current-buffer buffer
                   (and buffer-file-name (string-suffix-p ending buffer-file-name)
                        (string-search wanted (buffer-string)) (buffer-string))))
               (buffer-list)))))

(defmacro drive-run (&rest scenario)
  "Run SCENARIO and leave, with exit code 1 and the reason if it fails."
  `(condition-case reason
       (progn ,@scenario (drive--leave 0))
     ((error quit)
      (message "%S\nprompts: %S\nprogress: %S" reason drive-prompts drive-progress)
      (drive--leave 1))))

(defun drive--leave (code)
  "End with exit CODE; nothing is saved, nothing is asked."
  (setq kill-emacs-hook nil)
  (dolist (buffer (buffer-list)) (with-current-buffer buffer (set-buffer-modified-p nil)))
  (kill-emacs code))

;;; driver.el ends here
