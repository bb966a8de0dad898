package io.millrace.launcher.squid;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Quantity;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Translates {@code refresh_pattern}. A line contains an expression for URLs, the minimum lifetime in minutes, a
 * percentage of the time since Last-Modified, the maximum lifetime in minutes, and options. A line for all URLs sets
 * heuristic lifetimes, other lines become cache rules. Stateless.
 */
final class Refresh {
    private Refresh() {}

    static void read(Workspace workspace, List<SquidLine> lines) {
        List<SquidLine> patterns = new ArrayList<>();
        for (SquidLine line : lines) {
            if (line.name().equals("refresh_pattern")) {
                patterns.add(line);
            }
        }
        boolean allUrlsMatched = false;
        List<SquidLine> rules = new ArrayList<>();
        for (SquidLine line : patterns) {
            boolean ignoreCase = line.arg(0).equals("-i");
            String expression = line.arg(ignoreCase ? 1 : 0);
            if (allUrlsMatched) {
                line.note("an earlier line matches all URLs");
            } else if (expression.startsWith("^ftp:") || expression.startsWith("^gopher:")) {
                line.note("Millrace fetches by HTTP only");
            } else if (expression.equals(".") || expression.equals(".*")) {
                setForAllUrls(workspace.draft(), line, ignoreCase ? 2 : 1);
                allUrlsMatched = true;
            } else {
                rules.add(line);
            }
        }
        translateZeroLifetimes(workspace, rules, patterns);
        // In Squid the first matching line decides, in Millrace the last matching rule.
        Collections.reverse(rules);
        rules.forEach(each -> writeCacheRule(workspace, each));
    }

    /**
     * Translates the last lines for single URLs if their minimum lifetime, the first number, is 0. A line with 0 that
     * precedes a line with a lifetime has no equivalent, because the rule for that lifetime would apply to the same
     * URLs.
     */
    private static void translateZeroLifetimes(Workspace workspace, List<SquidLine> rules, List<SquidLine> patterns) {
        List<String> squidDefault = List.of("0", "20%", "4320");
        for (SquidLine each : patterns) {
            squidDefault = each.arg(0).equals(".")
                    ? each.args().subList(1, Math.min(4, each.args().size()))
                    : squidDefault;
        }
        while (!rules.isEmpty()) {
            SquidLine last = rules.get(rules.size() - 1);
            int at = last.arg(0).equals("-i") ? 1 : 0;
            List<String> numbers = last.argsFrom(at + 1)
                    .subList(0, Math.min(3, last.argsFrom(at + 1).size()));
            List<String> options = last.argsFrom(at + 4);
            boolean harmless = options.stream().allMatch(each -> each.matches("refresh-ims|reload-into-ims"));
            String when = PosixExpression.toRe2(last.arg(at), at == 1);
            String matches = when == null ? null : UrlCondition.of(when);
            if (!harmless || numbers.size() != 3 || !numbers.get(0).equals("0")) {
                return;
            }
            if (numbers.equals(squidDefault)) {
                last.note("the numbers are the same as for all URLs");
            } else if (numbers.get(1).equals("0%") && matches != null) {
                writeZeroLifetime(workspace.draft().root(), last, matches);
            } else {
                return;
            }
            rules.remove(rules.size() - 1);
        }
    }

    /** Sets the lifetime 0 for responses without an explicit lifetime, for this cache only. */
    private static void writeZeroLifetime(DraftNode root, SquidLine line, String matches) {
        DraftNode rule = root.addElement("rules").removableIfInvalid().from(line.markHandled());
        rule.put(
                "when",
                matches
                        + " && !(response_header[\"Cache-Control\"] =~ \"(?i)max-age|s-maxage"
                        + "|no-store|no-cache|private\")"
                        + " && !(response_header[\"Expires\"] =~ \"\")");
        rule.put("set_stored_header.CDN-Cache-Control", "max-age=0");
        rule.putWords("remove_response_header", List.of("CDN-Cache-Control"));
        line.note("responses without a lifetime are validated at every use");
    }

    private static void setForAllUrls(Draft draft, SquidLine line, int at) {
        String minimum = minutes(line.arg(at));
        String maximum = minutes(line.arg(at + 2));
        String percent = line.arg(at + 1).replace("%", "");
        if (minimum.isEmpty() || maximum.isEmpty() || !percent.matches("\\d{1,6}")) {
            line.notMapped("the numbers are not understood");
            return;
        }
        BigDecimal factor = new BigDecimal(percent).movePointLeft(2).min(BigDecimal.ONE);
        String text = factor.signum() == 0 ? "0" : factor.stripTrailingZeros().toPlainString();
        draft.set("cache.heuristic_lm_factor", text, line.markHandled());
        draft.set("cache.heuristic_min_lifetime", minimum, line.entry());
        draft.set("cache.heuristic_max_lifetime", maximum, line.entry());
        if (!minimum.equals("0")) {
            draft.set("cache.heuristic_without_last_modified", "true", line.entry());
        }
        translateOptions(draft, line, at + 3);
    }

    private static String minutes(String text) {
        return text.matches("\\d{1,9}") ? Quantity.seconds(Long.parseLong(text) * 60) : "";
    }

    private static void translateOptions(Draft draft, SquidLine line, int at) {
        for (String option : line.argsFrom(at)) {
            switch (option.replaceAll("=.*", "")) {
                case "ignore-reload", "ignore-no-cache" ->
                    draft.set("cache.ignore_client_no_cache", "true", line.entry());
                case "reload-into-ims", "refresh-ims" -> line.entry().matchesDefaultOf("cache.ims_on_client_no_cache");
                case "ignore-no-store" -> draft.set("cache.ignore_server_no_cache", "true", line.entry());
                case "store-stale", "override-lastmod", "ignore-must-revalidate" ->
                    line.entry().note(option + " has no equivalent for all URLs");
                case "max-stale" -> {
                    String time = minutes(option.substring(option.indexOf('=') + 1));
                    if (!time.isEmpty()) {
                        draft.set("cache.max_stale_age", time, line.entry());
                    }
                }
                default -> line.notMapped(option + " has no equivalent for all URLs");
            }
        }
    }

    private static void writeCacheRule(Workspace workspace, SquidLine line) {
        boolean ignoreCase = line.arg(0).equals("-i");
        int at = ignoreCase ? 1 : 0;
        String minimum = minutes(line.arg(at + 1));
        List<String> options = line.argsFrom(at + 4);
        if (minimum.isEmpty()) {
            line.notMapped("the numbers are not understood");
            return;
        }
        if (minimum.equals("0")) {
            line.notMapped("heuristic lifetimes are the same for all URLs; with cache.cache_urls_that_look_dynamic:"
                    + " false, URLs with a query are not cached");
            return;
        }
        String expression = PosixExpression.toRe2(line.arg(at), ignoreCase);
        if (expression == null) {
            line.notMapped(PosixExpression.NO_EQUIVALENT);
            return;
        }
        boolean forced = options.stream()
                .anyMatch(each -> each.startsWith("ignore-no-store")
                        || each.startsWith("ignore-private")
                        || each.startsWith("ignore-no-cache")
                        || each.startsWith("override-expire"));
        DraftNode rule = workspace.draft().root().addElement("cache_rules");
        rule.put("url_regex", expression);
        rule.put(forced ? "ttl_in_cache" : "revalidate", minimum);
        if (options.contains("ignore-reload") && !forced) {
            rule.put("action", "ignore_client_no_cache");
        }
        rule.from(line.markHandled());
        line.note("the first number is the lifetime of all responses that match"
                + (forced ? forcedLifetimes(options) : ", whatever lifetime they have"));
    }

    /** Returns the end of a note about a lifetime: the responses that Squid treats differently. */
    private static String forcedLifetimes(List<String> options) {
        return ", except those with private"
                + (options.contains("override-expire")
                        ? ""
                        : "; Squid obeys the lifetime of the others, if they have one")
                + (options.contains("ignore-no-store") ? "" : "; Squid does not store those with no-store");
    }
}
