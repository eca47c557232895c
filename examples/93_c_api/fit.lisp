;;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;;; Fits y = w x from SBCL. sbcl --script fit.lisp PATH/TO/libtenon_c.so
(load-shared-object (or (second *posix-argv*) "libtenon_c.so.0"))
(use-package :sb-alien)
(defmacro c (name &rest arguments) ; values and their types in turn; checks the status
  `(unless (zerop (alien-funcall
                   (extern-alien ,name (function int ,@(loop for (type nil) on arguments by #'cddr collect type)))
                   ,@(loop for (nil value) on arguments by #'cddr collect value)))
     (error (alien-funcall (extern-alien "tenon_last_error" (function c-string))))))
(defmacro out (name &rest arguments) ; the same of a function whose last argument is where its result goes
  `(with-alien ((result (* t))) (c ,name ,@arguments (* (* t)) (addr result)) result))
(defun destroy (tensor) (alien-funcall (extern-alien "tenon_tensor_destroy" (function void (* t))) tensor))
(defun tensor (context values) ; f32
  (let ((data (make-alien float (length values))) (shape (make-alien (signed 64) 1)))
    (loop for v in values for i from 0 do (setf (deref data i) (coerce v 'single-float)))
    (setf (deref shape 0) (length values))
    (out "tenon_tensor_create" (* t) context (unsigned 32) 18 (unsigned 32) 1 (* (signed 64)) shape
         (* float) data (unsigned 64) (* 4 (length values)))))
(defparameter *loss* "graph loss(%x: f32[n], %y: f32[n], %w: f32[1]) where 1 <= n <= 4096 {
  %v = expand %w : f32[n]  %p = mul %v, %x  %e = sub %p, %y  %s = mul %e, %e
  %loss = reduce.add %s, axes=[0]  return %loss
}")
(let* ((context (out "tenon_context_create" (* t) (sb-sys:int-sap 0)))
       (loss (out "tenon_graph_parse" (* t) context c-string *loss* c-string "fit.lisp"))
       (by (make-alien c-string 1)) (inputs (make-alien (* t) 3)) (results (make-alien (* t) 2))
       (step (progn (setf (deref by 0) "w")
                    (out "tenon_graph_gradient" (* t) loss c-string nil (* c-string) by (unsigned 64) 1)))
       (x (tensor context '(1 2 3 4))) (y (tensor context '(3 6 9 12))) (w 0.0))
  (dotimes (i 20)
    (loop for value in (list x y (tensor context (list w))) for k from 0 do (setf (deref inputs k) value))
    (c "tenon_graph_run" (* t) step (* (* t)) inputs (unsigned 64) 3 (* t) (sb-sys:int-sap 0)
       (* (* t)) results (unsigned 64) 2)
    (with-alien ((d float)) (c "tenon_tensor_read" (* t) (deref results 1) (* float) (addr d) (unsigned 64) 4)
      (decf w (* 0.02 d)))
    (mapc #'destroy (list (deref inputs 2) (deref results 0) (deref results 1))))
  (format t "w = ~,4f~%" w)) ; 3.0000
