echo no > input
ln -s /scratch/reference/answer actual
ln -s ../scratch/reference/answer actual2
