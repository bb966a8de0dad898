package io.millrace.proxy.config.check;

import io.millrace.proxy.config.access.ErrorPageConfig;
import io.millrace.proxy.config.access.ErrorPageKeys;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Checks the error pages of the file and of remap rules. */
final class ErrorPageChecks {
    private final ConfigProblems problems;
    private final Place wholeFile;

    ErrorPageChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    void check(ConfigValues values) {
        check(values.elements(ErrorPageKeys.PAGES), "error_pages");
        List<ConfigValues> remap = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < remap.size(); i++) {
            check(remap.get(i).elements(ErrorPageKeys.OF_REMAP), "remap[" + i + "].error_pages");
        }
    }

    private void check(List<ConfigValues> pages, String list) {
        Map<String, String> seen = new HashMap<>();
        for (int i = 0; i < pages.size(); i++) {
            String path = list + "[" + i + "]";
            ErrorPageConfig.check(pages.get(i), (key, message) -> error(path + "." + key, path, message));
            List<String> statuses = pages.get(i).find(ErrorPageKeys.STATUS);
            for (String status : statuses == null ? List.<String>of() : statuses) {
                String first = seen.putIfAbsent(status, path);
                if (first != null) {
                    error(path + ".status", path, status + " already has a page, " + first);
                }
            }
            if (i == ErrorPageConfig.PAGES_MAX) {
                error(path, path, "is more than the limit of " + ErrorPageConfig.PAGES_MAX + " pages in a list");
            }
        }
    }

    private void error(String path, String page, String message) {
        if (!problems.isBroken(path)) {
            problems.error(problems.placeOf(path, problems.placeOf(page, wholeFile)), path, message);
        }
    }
}
