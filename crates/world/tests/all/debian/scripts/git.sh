# Commits with fixed dates have fixed names; merge, repacking, and a clone through a pipe.
# needs: git
export HOME=$PWD GIT_AUTHOR_DATE='2025-01-01T00:00:00Z' GIT_COMMITTER_DATE='2025-01-01T00:00:00Z'
git config --global user.name Someone; git config --global user.email someone@example.org; git config --global init.defaultBranch main
git init repository; cd repository
cp ../words .; git add words; git commit -m first; echo cherry >> words; git diff; git commit -am second
git checkout -b side HEAD~1; cp ../data .; git add data; git commit -m side; git checkout main; git merge -m merged side
git log --graph --format='%H %s'; git status; git gc --quiet; git fsck; cd ..
git clone repository copy; cd copy; git log --oneline; git blame words; git show --stat
