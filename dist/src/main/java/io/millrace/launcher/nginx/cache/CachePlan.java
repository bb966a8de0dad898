package io.millrace.launcher.nginx.cache;

import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.nginx.remap.RuleSettings;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import io.millrace.launcher.nginx.syntax.Values;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Translates the directives {@code proxy_cache*} of a location to settings of its rule. Stateless. */
public final class CachePlan {
    private static final String DEFAULT = "nginx's default (%s); without the line: %s";

    /** The comment of {@code cache.leak_guard}. */
    public static final String LEAK_GUARD = String.format(DEFAULT, "it has no leak guard", "on");

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
            if (statuses(each).isEmpty()
                    || statuses(each).contains("200")
                    || statuses(each).contains("any")) {
                return each;
            }
        }
        return null;
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
     * @param inactive time after which nginx removes a response without requests, in Millrace's form
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
        lifetimes(scope, rule);
        ignoredFields(scope, rule);
        stale(scope, rule, inactive);
        lock(scope, rule);
        key(scope, rule);
    }

    private static void lifetimes(Scope scope, RuleSettings.Rule rule) {
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
        negative(scope, rule);
    }

    /** Writes the lifetime of responses with other statuses than 200 and 301. Millrace has only one value for them. */
    private static void negative(Scope scope, RuleSettings.Rule rule) {
        Set<String> codes = new LinkedHashSet<>();
        Directive first = null;
        List<Entry> sources = new ArrayList<>();
        for (Directive each : scope.all("proxy_cache_valid")) {
            List<String> ownCodes = new ArrayList<>(statuses(each));
            if (ownCodes.remove("any")) {
                ownCodes.addAll(List.of(
                        "204", "302", "303", "307", "400", "403", "404", "405", "410", "500", "502", "503", "504"));
            }
            ownCodes.removeIf(code -> List.of("200", "301").contains(code) || !code.matches("[2-5]\\d\\d"));
            if (statuses(each).isEmpty()) {
                ownCodes.add("302");
            }
            if (ownCodes.isEmpty()) {
                each.markHandled().matchesDefaultOf("cache.heuristic_min_lifetime");
                continue;
            }
            if (first != null && !each.lastArg().equals(first.lastArg())) {
                each.notMapped("statuses other than 200 and 301 have one lifetime, that of "
                        + first.entry().place());
            }
            first = first == null ? each : first;
            sources.add(each.markHandled());
            codes.addAll(ownCodes);
        }
        String time = first == null ? null : Values.time(first.lastArg());
        if (time == null) {
            return;
        }
        Entry[] all = sources.toArray(Entry[]::new);
        rule.put("cache.negative_caching.enabled", "true", all);
        rule.put("cache.negative_caching.lifetime", time, all);
        rule.putWords("cache.negative_caching.list", codes.stream().sorted().toList(), all);
    }

    private static void ignoredFields(Scope scope, RuleSettings.Rule rule) {
        Directive valid = lifetime(scope);
        String time = valid == null ? null : Values.time(valid.lastArg());
        for (Directive each : scope.all("proxy_ignore_headers")) {
            Entry entry = each.markHandled();
            for (String word : each.args()) {
                switch (word.toLowerCase(java.util.Locale.ROOT)) {
                    case "cache-control" -> {
                        rule.put("cache.ignore_server_no_cache", "true", entry);
                        if (time != null) {
                            rule.put("cache.guaranteed_min_lifetime", time, entry);
                            rule.put("cache.guaranteed_max_lifetime", time, entry);
                        }
                        entry.note("responses with private are not stored");
                    }
                    case "expires" -> {
                        if (time != null) {
                            rule.put("cache.guaranteed_min_lifetime", time, entry);
                            rule.put("cache.guaranteed_max_lifetime", time, entry);
                        }
                    }
                    case "set-cookie" -> setCookie(scope, rule, entry);
                    case "vary" -> entry.notMapped("Vary: stored responses are chosen by Vary in any case");
                    default -> entry.note(word + " has no meaning in Millrace");
                }
            }
        }
    }

    private static void setCookie(Scope scope, RuleSettings.Rule rule, Entry entry) {
        for (Directive each : scope.all("proxy_hide_header")) {
            if (each.arg(0).equalsIgnoreCase("Set-Cookie")) {
                rule.putWords("cache.unshared_fields", List.of("Set-Cookie"), entry, each.markHandled());
                each.entry().note("the client whose request is forwarded still gets the field");
                return;
            }
        }
        entry.matchesDefaultOf("cache.unshared_fields");
    }

    private static void stale(Scope scope, RuleSettings.Rule rule, String inactive) {
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
            background.note("has an effect only with proxy_cache_use_stale updating");
        }
    }

    private static void lock(Scope scope, RuleSettings.Rule rule) {
        Directive lock = scope.last("proxy_cache_lock");
        Directive timeout = scope.last("proxy_cache_lock_timeout");
        String wait = timeout == null ? "5s" : Values.time(timeout.arg(0));
        if (lock != null && lock.isOn() && wait != null) {
            rule.put(
                    "cache.collapse_wait",
                    wait,
                    timeout == null ? new Entry[] {lock.markHandled()} : both(lock, timeout));
        } else if (lock != null) {
            rule.put("cache.collapse_wait", "0", lock.markHandled());
        }
    }

    private static Entry[] both(Directive one, Directive two) {
        return new Entry[] {one.markHandled(), two.markHandled()};
    }

    /**
     * Translates the cache key. In Millrace it is the client's URL. Fields and cookies in the key of nginx become parts
     * of the variant key.
     */
    private static void key(Scope scope, RuleSettings.Rule rule) {
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
            entry.note("the key always has the client's host");
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
                        entry.note("the key has the whole query; cache.key.included_params names single parameters");
                    } else {
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
        variants(rule, entry, fields, cookies, unknown);
    }

    private static void variants(
            RuleSettings.Rule rule, Entry entry, List<String> fields, List<String> cookies, List<String> unknown) {
        if (!fields.isEmpty()) {
            rule.putWords("cache.key.fields", fields, entry);
        }
        if (!cookies.isEmpty()) {
            rule.putWords("cache.key.cookies", cookies, entry);
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
