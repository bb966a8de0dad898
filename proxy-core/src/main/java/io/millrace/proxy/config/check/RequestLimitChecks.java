package io.millrace.proxy.config.check;

import io.millrace.proxy.config.access.RequestLimitConfig;
import io.millrace.proxy.config.access.RequestLimitKeys;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.expression.request.RequestFields;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Checks the limits of {@code request_limits} and of remap rules for errors. */
final class RequestLimitChecks {
    private final ConfigProblems problems;
    private final Place wholeFile;
    /** Paths of the limits by name. */
    private final Map<String, String> names = new HashMap<>();

    RequestLimitChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    /** Checks all limits, their names, and the number of limits for one request. */
    void check(ConfigValues values) {
        int general = check(values.elements(RequestLimitKeys.LIMITS), "request_limits", 0);
        List<ConfigValues> remap = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < remap.size(); i++) {
            check(remap.get(i).elements(RequestLimitKeys.OF_REMAP), "remap[" + i + "].request_limits", general);
        }
    }

    /**
     * Checks the limits of a list.
     *
     * @param before number of limits that apply to a request in addition to this list
     * @return the number of limits, including this list
     */
    private int check(List<ConfigValues> limits, String list, int before) {
        for (int i = 0; i < limits.size(); i++) {
            String path = list + "[" + i + "]";
            // A misspelt or invalid key is reported once, not also as a missing key.
            if (problems.isBroken(path) || problems.isAnyBrokenBelow(path)) {
                continue;
            }
            RequestLimitConfig limit = RequestLimitConfig.read(limits.get(i), (key, message) -> {
                String full = key.isEmpty() ? path : path + "." + key;
                problems.error(at(full, path), full, message);
            });
            String first = limit == null ? null : names.putIfAbsent(limit.name(), path);
            if (limit != null && first != null) {
                problems.error(
                        at(path + ".name", path), path + ".name", limit.name() + " is already the name of " + first);
            }
            if (before + i + 1 > RequestLimitConfig.LIMITS_MAX && !problems.isBroken(path)) {
                problems.error(
                        at(path, path),
                        path,
                        "with this limit " + (before + i + 1) + " limits apply to one request, limit="
                                + RequestLimitConfig.LIMITS_MAX);
            }
        }
        return before + limits.size();
    }

    private Place at(String full, String limit) {
        return problems.placeOf(full, problems.placeOf(limit, wholeFile));
    }

    /** Returns the regular expressions of the conditions of all limits. Conditions with an error are skipped. */
    static List<String> expressions(ConfigValues values) {
        List<String> patterns = new ArrayList<>();
        List<ConfigValues> limits = new ArrayList<>(values.elements(RequestLimitKeys.LIMITS));
        values.elements(ConfigKeys.REMAP).forEach(rule -> limits.addAll(rule.elements(RequestLimitKeys.OF_REMAP)));
        for (ConfigValues limit : limits) {
            String when = limit.find(RequestLimitKeys.WHEN);
            if (when != null) {
                patterns.addAll(patternsOf(when));
            }
        }
        return patterns;
    }

    private static List<String> patternsOf(String condition) {
        try {
            return Expression.parse(condition, RequestFields.SCHEMA).patterns();
        } catch (ExpressionException e) {
            return List.of();
        }
    }
}
