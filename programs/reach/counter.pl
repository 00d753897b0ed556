# Two processes add to a number in a file; with an argument, under a lock.
use strict;
use Fcntl ':flock';

sub get { open(my $file, '<', 'number') or return 0; my $text = <$file>; close $file; return $text + 0; }
sub add {
    open(my $lock, '>', 'lock') or die;
    flock($lock, LOCK_EX) if @ARGV;
    my $sum = get() + 1;
    open(my $file, '>', 'number.' . $$) or die;
    print $file $sum;
    close $file;
    rename('number.' . $$, 'number') or die;
}
my @children = map { my $pid = fork; if (!$pid) { add(); exit 0; } $pid } 1 .. 2;
waitpid($_, 0) for @children;
die "an addition is lost\n" if get() != 2;
