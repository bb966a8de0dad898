package io.millrace.launcher.nginx.cache;

import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.nginx.remap.RuleSettings;
import io.millrace.launcher.nginx.remap.SplitClients;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import io.millrace.launcher.nginx.syntax.Values;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Translates the directives {@code proxy_cache*} of a location to settings of its rule. Stateless. */
public final class CachePlan {
    private static final String DEFAULT = "nginx's default (%s); without the line: %s";

    /** The comment of {@code cache.leak_guard}. */
    public static final String LEAK_GUARD = String.format(DEFAULT, "it has no leak guard", "on");

    /** Statuses of {@code any} without 200. */
    private static final List<String> ANY = List.of(
            "203", "204", "300", "301", "302", "303", "307", "308", "400", "403", "404", "405", "410", "414", "500",
            "501", "502", "503", "504");

    /** Statuses that Millrace stores with a heuristic lifetime unless they are listed. */
    private static final Set<String> HEURISTIC =
            Set.of("203", "204", "300", "301", "308", "404", "405", "410", "414", "501");

    private CachePlan() {}

    /** Returns true if responses of the scope are stored. */
    public static boolean isOn(Scope scope) {
        String zone = scope.value("proxy_cache", "off");
        return !zone.equals("off");
    }

    /**
     * Returns the {@code proxy_cache_valid} directive with the lifetime of responses with status 200. Returns null if
     * there is none.
     */
    public static @Nullable Directive lifetime(Scope scope) {
        for (Directive each : scope.all("proxy_cache_valid")) {
            if (isFor200(each)) {
                return each;
            }
        }
        return null;
    }

    static boolean isFor200(Directive valid) {
        List<String> statuses = statuses(valid);
        return statuses.isEmpty() || statuses.contains("200") || statuses.contains("any");
    }

    private static List<String> statuses(Directive valid) {
        return valid.args().subList(0, Math.max(0, valid.args().size() - 1));
    }

    /** Returns the response fields that nginx ignores, in lower case. */
    public static Set<String> ignored(Scope scope) {
        Set<String> ignored = new LinkedHashSet<>();
        for (Directive each : scope.all("proxy_ignore_headers")) {
            each.args().forEach(word -> ignored.add(word.toLowerCase(java.util.Locale.ROOT)));
        }
        return ignored;
    }

    /**
     * Writes the cache settings of a rule.
     *
     * @param ignoreClients whether Cache-Control of requests has no effect, which is nginx's default
     * @param inactive time after which nginx removes a response without requests, in Millrace's notation
     */
    public static void fill(Scope scope, RuleSettings.Rule rule, boolean ignoreClients, String inactive) {
        Directive zone = scope.last("proxy_cache");
        if (!isOn(scope)) {
            if (zone == null) {
                rule.putDefault("cache.enabled", "false", "no proxy_cache applies to the rule");
            } else {
                rule.put("cache.enabled", "false", zone.markHandled());
            }
            return;
        }
        if (zone != null && rule.text("cache.enabled") == null) {
            rule.put("cache.enabled", "true", zone.markHandled());
        } else if (zone != null) {
            zone.markHandled().matchesDefaultOf("cache.enabled");
        }
        if (ignoreClients) {
            String remark = String.format(DEFAULT, "it ignores Cache-Control of requests", "false");
            rule.putDefault("cache.ignore_client_no_cache", "true", remark);
            rule.putDefault("cache.ignore_client_max_age", "true", remark);
        }
        rule.putDefault("cache.leak_guard", "warn", LEAK_GUARD);
        translateLifetimes(scope, rule);
        IgnoredFields.translate(scope, rule);
        translateStale(scope, rule, inactive);
        translateLock(scope, rule);
        translateKey(scope, rule);
    }

    private static void translateLifetimes(Scope scope, RuleSettings.Rule rule) {
        Directive valid = lifetime(scope);
        String time = valid == null ? null : Values.time(valid.lastArg());
        if (valid == null || time == null) {
            rule.putDefault(
                    "cache.required_headers",
                    "lifetime",
                    String.format(DEFAULT, "responses without a lifetime are not stored", "none"));
        } else {
            Entry entry = valid.markHandled();
            rule.put("cache.heuristic_lm_factor", "0", entry);
            rule.put("cache.heuristic_min_lifetime", time, entry);
            rule.put("cache.heuristic_max_lifetime", time, entry);
            rule.put("cache.heuristic_without_last_modified", "true", entry);
            if (ignored(scope).contains("set-cookie")) {
                rule.put("cache.guessed_lifetime_with_cookies", "all", entry);
            }
        }
        writeNegativeLifetime(scope, rule);
    }

    /**
     * Writes the lifetime of responses with statuses other than 200, and of 301 if its time differs from that of 200.
     * Millrace has only one lifetime for them; the shortest is written.
     */
    private static void writeNegativeLifetime(Scope scope, RuleSettings.Rule rule) {
        Directive valid = lifetime(scope);
        Map<Directive, Set<String>> codes = new LinkedHashMap<>();
        Set<String> listedBefore = new HashSet<>();
        for (Directive each : scope.all("proxy_cache_valid")) {
            Set<String> listed = otherCodes(each);
            Set<String> newCodes = new LinkedHashSet<>(listed);
            newCodes.removeIf(code -> !listedBefore.add(code));
            if (valid != null && millis(each) == millis(valid)) {
                listed.remove("301");
                newCodes.remove("301");
            }
            if (listed.isEmpty()) {
                reportSuccessful(each, valid);
            } else if (newCodes.isEmpty()) {
                each.note("earlier lines already list these statuses");
            } else {
                codes.put(each, newCodes);
            }
        }
        boolean stores = codes.keySet().stream().anyMatch(each -> millis(each) > 0);
        codes.entrySet()
                .removeIf(each -> millis(each.getKey()) == 0 && leaveOut(each.getKey(), each.getValue(), stores));
        boolean guesses = valid != null && millis(valid) > 0 && Values.time(valid.lastArg()) != null;
        Set<String> unlisted = guesses ? unlisted(scope, listedBefore) : Set.of();
        if (unlisted.isEmpty() || valid == null) {
            writeNegative(codes, rule);
        } else if (stores) {
            valid.notMapped(String.join(", ", unlisted) + " without a lifetime are stored as long as 200");
            writeNegative(codes, rule);
        } else {
            valid.note("statuses without a line get the lifetime 0 if their fields have none");
            codes.put(valid, unlisted);
            writeList(codes, "0", rule);
        }
    }

    /** Returns the statuses that no line names and that get a heuristic lifetime, which equals the lifetime of 200. */
    private static Set<String> unlisted(Scope scope, Set<String> listed) {
        boolean all = scope.all("proxy_cache_valid").stream()
                .anyMatch(each -> statuses(each).contains("any"));
        Set<String> unlisted = new TreeSet<>(all ? Set.of() : HEURISTIC);
        unlisted.removeAll(listed);
        return unlisted;
    }

    /**
     * Reports a line with the time 0 whose statuses need not or cannot be in {@code cache.negative_caching.list}. They
     * need not if Millrace does not store such responses by default. They cannot if other statuses have a lifetime,
     * because the list has only one lifetime. Returns false if the list must contain the statuses of the line.
     */
    private static boolean leaveOut(Directive line, Set<String> codes, boolean stores) {
        List<String> heuristic = codes.stream().filter(HEURISTIC::contains).toList();
        if (heuristic.isEmpty()) {
            line.markHandled().matchesDefaultOf("cache.negative_caching.list");
        } else if (stores) {
            line.notMapped(String.join(", ", heuristic) + " without a lifetime are stored as long as 200");
        }
        return heuristic.isEmpty() || stores;
    }

    private static void writeNegative(Map<Directive, Set<String>> codes, RuleSettings.Rule rule) {
        Directive shortest = null;
        for (Directive each : codes.keySet()) {
            shortest = shortest == null || millis(each) < millis(shortest) ? each : shortest;
        }
        String time = shortest == null ? null : Values.time(shortest.lastArg());
        if (shortest == null || time == null) {
            return;
        }
        for (Directive each : codes.keySet()) {
            if (millis(each) != millis(shortest)) {
                each.notMapped("statuses other than 200 share the shortest lifetime, from "
                        + shortest.entry().place());
            }
        }
        writeList(codes, time, rule);
    }

    private static void writeList(Map<Directive, Set<String>> codes, String time, RuleSettings.Rule rule) {
        Set<String> all = new TreeSet<>();
        codes.values().forEach(all::addAll);
        Entry[] entries = codes.keySet().stream().map(Directive::markHandled).toArray(Entry[]::new);
        rule.put("cache.negative_caching.enabled", "true", entries);
        rule.put("cache.negative_caching.lifetime", time, entries);
        rule.putWords("cache.negative_caching.list", List.copyOf(all), entries);
    }

    /** Reports a line that lists only the statuses 200 and 206, or 301 with the same time as 200. */
    private static void reportSuccessful(Directive line, @Nullable Directive valid) {
        if (valid == null) {
            line.notMapped("partial responses are parts of a response with 200, and no line is for 200");
        } else if (millis(line) == millis(valid)) {
            line.markHandled().matchesDefaultOf("cache.heuristic_min_lifetime");
        } else {
            line.notMapped(
                    "200 and 206 share one lifetime, from " + valid.entry().place());
        }
    }

    static long millis(Directive valid) {
        Long millis = Values.millis(valid.lastArg());
        return millis == null ? Long.MAX_VALUE : millis;
    }

    /** Returns the statuses of a line except 200 and 206: a partial response is a part of a response with 200. */
    static Set<String> otherCodes(Directive valid) {
        Set<String> codes = new LinkedHashSet<>(statuses(valid));
        if (codes.remove("any")) {
            codes.addAll(ANY);
        }
        codes.removeIf(code -> List.of("200", "206").contains(code) || !code.matches("[2-5]\\d\\d"));
        if (statuses(valid).isEmpty()) {
            codes.addAll(List.of("301", "302"));
        }
        return codes;
    }

    private static void translateStale(Scope scope, RuleSettings.Rule rule, String inactive) {
        Directive stale = scope.last("proxy_cache_use_stale");
        List<String> words = stale == null ? List.of() : stale.args();
        Directive background = scope.last("proxy_cache_background_update");
        if (stale == null || words.contains("off")) {
            if (stale == null) {
                rule.putDefault("cache.max_stale_age", "0", String.format(DEFAULT, "proxy_cache_use_stale off", "7d"));
            } else {
                rule.put("cache.max_stale_age", "0", stale.markHandled());
            }
        } else {
            Entry entry = stale.markHandled();
            entry.matchesDefaultOf("cache.max_stale_age");
            List<String> codes = words.stream()
                    .filter(word -> word.matches("http_\\d{3}"))
                    .map(word -> word.substring(5))
                    .toList();
            if (codes.isEmpty()) {
                rule.put("cache.negative_revalidating.enabled", "false", entry);
            } else {
                rule.putWords("cache.negative_revalidating.list", codes, entry);
            }
            if (words.contains("updating")) {
                rule.put("cache.stale_while_revalidate", inactive, entry);
            }
        }
        if (background != null && background.isOn() && words.contains("updating")) {
            background.markHandled().matchesDefaultOf("cache.stale_while_revalidate");
            background.entry().note("stale responses are always updated in the background");
        } else if (background != null) {
            background.note("the directive has an effect only with proxy_cache_use_stale updating");
        }
    }

    private static void translateLock(Scope scope, RuleSettings.Rule rule) {
        Directive lock = scope.last("proxy_cache_lock");
        Directive timeout = scope.last("proxy_cache_lock_timeout");
        String wait = timeout == null ? "5s" : Values.time(timeout.arg(0));
        if (lock != null && lock.isOn() && wait != null) {
            rule.put(
                    "cache.collapse_wait",
                    wait,
                    timeout == null ? new Entry[] {lock.markHandled()} : entriesOf(lock, timeout));
        } else if (lock != null) {
            rule.put("cache.collapse_wait", "0", lock.markHandled());
        }
    }

    private static Entry[] entriesOf(Directive one, Directive two) {
        return new Entry[] {one.markHandled(), two.markHandled()};
    }

    /**
     * Translates the cache key. In Millrace the key is the client's URL. Fields and cookies in the key of nginx become
     * parts of the variant key.
     */
    private static void translateKey(Scope scope, RuleSettings.Rule rule) {
        Directive key = scope.last("proxy_cache_key");
        if (key == null) {
            return;
        }
        String text = scope.expand(key.text()).replaceAll("[{}]", "");
        List<String> fields = new ArrayList<>();
        List<String> cookies = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        boolean query = false;
        Entry entry = key.markHandled();
        if (!text.matches(".*\\$(host|http_host|server_name|proxy_host).*")) {
            entry.note("the key always contains the client's host");
        }
        java.util.regex.Matcher part =
                java.util.regex.Pattern.compile("\\$(\\w+)").matcher(text);
        while (part.find()) {
            String name = part.group(1);
            switch (name) {
                case "scheme",
                        "proxy_host",
                        "host",
                        "http_host",
                        "server_name",
                        "server_port",
                        "request_method",
                        "uri",
                        "request_filename",
                        "document_uri",
                        "proxy_port" -> {}
                case "request_uri", "args", "query_string" -> query = true;
                case "is_args" -> {}
                case "slice_range" -> entry.note("missing parts of ranges are fetched and stored without slices");
                default -> {
                    if (name.startsWith("http_")) {
                        fields.add(fieldName(name.substring(5)));
                    } else if (name.startsWith("cookie_")) {
                        cookies.add(name.substring(7));
                    } else if (name.startsWith("arg_")) {
                        query = true;
                        entry.note("the key contains the whole query; cache.key.included_params selects parameters");
                    } else if (SplitClients.choosesOrigin(scope, name)) {
                        entry.note("each branch of the split has stored responses of its own");
                    } else if (!mapped(scope, entry, name, fields, cookies)) {
                        unknown.add("$" + name);
                    }
                }
            }
        }
        entry.matchesDefaultOf("cache.key");
        if (!query) {
            rule.put("cache.key.ignore_query", "true", entry);
            rule.put("cache.key.send_whole_query", "true", entry);
        }
        writeVariants(rule, entry, fields, cookies, unknown);
    }

    /**
     * Adds the field or cookie from which a {@code map} computes a variable. Returns false if the variable has another
     * source.
     */
    private static boolean mapped(Scope scope, Entry entry, String name, List<String> fields, List<String> cookies) {
        for (Directive each : scope.everywhere("map")) {
            String source = each.arg(0).replaceAll("[${}]", "");
            if (each.arg(1).equals("$" + name) && source.matches("http_host|host|server_name|scheme|uri")) {
                entry.note("$" + name + " depends on the URL, which the key always contains");
                return true;
            }
            boolean cookie = source.matches("cookie_\\w+");
            if (!each.arg(1).equals("$" + name) || (!cookie && !source.matches("http_\\w+"))) {
                continue;
            }
            (cookie ? cookies : fields).add(cookie ? source.substring(7) : fieldName(source.substring(5)));
            entry.notMapped("$" + name + ": the key contains the whole value of $" + source
                    + " instead, so that more variants are stored");
            return true;
        }
        return false;
    }

    private static void writeVariants(
            RuleSettings.Rule rule, Entry entry, List<String> fields, List<String> cookies, List<String> unknown) {
        if (!fields.isEmpty()) {
            rule.putWords("cache.key.fields", fields.stream().distinct().toList(), entry);
        }
        if (!cookies.isEmpty()) {
            rule.putWords("cache.key.cookies", cookies.stream().distinct().toList(), entry);
        }
        if (!unknown.isEmpty()) {
            entry.notMapped(String.join(", ", unknown) + ": the key is made of the URL, request fields and cookies");
        }
    }

    /** Converts {@code accept_encoding} to {@code Accept-Encoding}. */
    private static String fieldName(String variable) {
        StringBuilder name = new StringBuilder();
        for (String word : variable.split("_", -1)) {
            name.append(name.isEmpty() ? "" : "-")
                    .append(word.isEmpty() ? "" : Character.toUpperCase(word.charAt(0)))
                    .append(word.isEmpty() ? "" : word.substring(1));
        }
        return name.toString();
    }
}
