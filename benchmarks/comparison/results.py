"""What was measured, kept as a file for each case and mode below the tag of a run."""
import json
import os

from comparison.cases import CASES


class Results:
    def __init__(self, folder, tag):
        self.folder = os.path.join(folder, tag)

    def put(self, measured):
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, f"{measured['case']}-{measured['mode']}.json")
        with open(path + ".new", "w") as out:
            json.dump(measured, out, indent=1)
        os.replace(path + ".new", path)

    def all(self):
        """In the order of the cases, pinned before free."""
        found = []
        for mode in ("pinned", "free"):
            for case in CASES:
                path = os.path.join(self.folder, f"{case.name}-{mode}.json")
                if os.path.exists(path):
                    with open(path) as text:
                        found.append(json.load(text))
        return found
