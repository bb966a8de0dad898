package io.millrace.launcher.nginx.cache;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.nginx.remap.RuleSettings;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import io.millrace.launcher.nginx.syntax.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Translates {@code proxy_ignore_headers} to settings and elements of {@code rules}. Stateless. */
final class IgnoredFields {
    /** The field Cache-Control of a response, as the left side of a comparison in a condition. */
    static final String CONTROL = "response_header[\"Cache-Control\"]";

    /** The condition for responses with the field Expires. */
    static final String EXPIRES = "response_header[\"Expires\"] =~ \"\"";

    /** The condition for responses with the field Set-Cookie. */
    static final String COOKIE = "response_header[\"Set-Cookie\"] =~ \"\"";

    private IgnoredFields() {}

    static void translate(Scope scope, RuleSettings.Rule rule) {
        Directive valid = CachePlan.lifetime(scope);
        boolean hasTime = valid != null && Values.time(valid.lastArg()) != null;
        List<Entry> lifetimes = new ArrayList<>();
        for (Directive each : scope.all("proxy_ignore_headers")) {
            Entry entry = each.markHandled();
            for (String word : each.args()) {
                switch (word.toLowerCase(Locale.ROOT)) {
                    case "cache-control" -> {
                        if (hasTime) {
                            rule.put("cache.ignore_server_no_cache", "true", entry);
                            lifetimes.add(entry);
                            entry.note("responses with private are not stored");
                        } else {
                            entry.notMapped(
                                    "Cache-Control: without proxy_cache_valid for 200 nginx ignores the lifetime"
                                            + " too; Millrace obeys the field");
                        }
                    }
                    case "expires" -> {
                        if (hasTime) {
                            lifetimes.add(entry);
                        }
                    }
                    case "set-cookie" -> setCookie(scope, rule, entry);
                    case "vary" -> entry.notMapped("Vary: stored responses are chosen by Vary in any case");
                    default -> entry.note(word + " has no meaning in Millrace");
                }
            }
        }
        if (!lifetimes.isEmpty()) {
            overrideLifetimes(scope, rule, lifetimes);
        }
    }

    /**
     * Writes rules that replace the lifetimes in ignored response fields by the lifetimes in {@code proxy_cache_valid}.
     * Each line of {@code proxy_cache_valid} gets a rule, because {@code cache.guaranteed_min_lifetime} would also
     * raise the lifetimes of errors.
     */
    private static void overrideLifetimes(Scope scope, RuleSettings.Rule rule, List<Entry> sources) {
        String fields = overridden(CachePlan.ignored(scope));
        for (StatusLifetime each : StatusLifetime.of(scope)) {
            DraftNode element = rule.addResponseRule(each.condition() + " && " + fields);
            each.write(element);
            sources.forEach(element::from);
        }
        sources.forEach(source -> source.note("statuses without proxy_cache_valid keep the lifetime of their fields"));
    }

    /**
     * Returns the condition for responses whose fields contain a lifetime that nginx ignores. Responses without a
     * lifetime in their fields are excluded: they get the heuristic lifetime, or the one of negative caching. Responses
     * with {@code private} are excluded, because the rule would override it. Responses with Set-Cookie are excluded
     * unless that field is ignored too: nginx does not store them, so their {@code max-age=0} must remain.
     */
    private static String overridden(Set<String> ignored) {
        String condition;
        if (!ignored.contains("cache-control")) {
            condition = EXPIRES + " && !(" + CONTROL + " =~ \"(?i)max-?age|no-cache|no-store|private\")";
        } else {
            String lifetime = CONTROL + " =~ \"(?i)max-?age\"";
            condition = ignored.contains("expires")
                    ? "(" + lifetime + " || " + EXPIRES + ")"
                    : lifetime + " && !(" + EXPIRES + ")";
            condition += " && !(" + CONTROL + " =~ \"(?i)private\")";
        }
        return ignored.contains("set-cookie") ? condition : condition + " && !(" + COOKIE + ")";
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
}
