package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.nginx.access.AuthRequest;
import io.millrace.launcher.nginx.remap.UrlBase;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The translator of header fields in requests to origins and in responses to clients. Confined to one thread. */
final class Headers {
    /** Words of {@code access.forwarded_fields}, by field name in lower case. */
    private static final Map<String, String> FORWARDED = Map.of(
            "x-forwarded-for", "x-forwarded-for",
            "x-forwarded-proto", "x-forwarded-proto",
            "x-forwarded-host", "x-forwarded-host",
            "forwarded", "forwarded",
            "client-ip", "client-ip");

    /** Lines that set fields about the client, by the field's word in {@code access.forwarded_fields}. */
    private final Map<String, Set<Entry>> forwarded = new LinkedHashMap<>();

    private final FieldRules rules = new FieldRules();

    /**
     * Returns the directive that sets the Host field of requests to the origin. Returns null if the host of the
     * origin's URL is sent.
     */
    static @Nullable Directive host(Scope scope) {
        Directive found = null;
        for (Directive each : scope.all("proxy_set_header", "grpc_set_header")) {
            found = each.arg(0).equalsIgnoreCase("Host") ? each : found;
        }
        return found;
    }

    /** Returns true if a value is the client's Host field, for which nginx has several variables. */
    static boolean isClientHost(String value) {
        return value.replaceAll("[{}]", "")
                .matches("\\$(http_host|host|server_name)(:(\\$server_port|\\$proxy_port|\\d+))?");
    }

    /** Returns true if a value of Host is a fixed name, which becomes the host of the rule's {@code to}. */
    static boolean isFixed(String value) {
        return value.matches("[A-Za-z0-9.-]+(:\\d+)?");
    }

    /** Translates the fields of requests for one rule, except Host. */
    void translateRequestFields(Scope scope, UrlBase base, DraftNode rule) {
        rules.add(rule);
        for (Directive each : scope.all("proxy_set_header", "grpc_set_header")) {
            String name = each.arg(0).toLowerCase(Locale.ROOT);
            String value = each.arg(1);
            String word = FORWARDED.get(name);
            if (name.equals("host") || AuthRequest.isReceived(scope, each)) {
                continue;
            }
            if (word != null && !value.isEmpty()) {
                forwarded.computeIfAbsent(word, key -> new LinkedHashSet<>()).add(each.markHandled());
                if (name.equals("x-forwarded-for") && value.contains("proxy_add")) {
                    each.entry().note("addresses in the field are kept if they come from access.trusted_proxies");
                }
            } else if (name.equals("upgrade") && value.contains("$http_upgrade")) {
                rule.putWords("upgrade", List.of("websocket"))
                        .removableIfInvalid()
                        .from(each.markHandled());
            } else if (name.equals("range") && value.replaceAll("[{}]", "").equals("$slice_range")) {
                each.note("missing parts of ranges are fetched without slices");
            } else if (name.equals("connection")) {
                explainConnection(each, value);
            } else if (value.replaceAll("[{}]", "").equals("$http_" + name.replace('-', '_'))) {
                each.note("fields of clients are sent to origins unchanged");
            } else if (value.replaceAll("[{}]", "").matches("\\$(realip_)?remote_addr")) {
                each.notMapped("origins get the client's address in X-Forwarded-For, or in Client-IP or Forwarded:"
                        + " access.forwarded_fields");
            } else {
                rules.setRequestField(rule, scope, base, each);
            }
        }
    }

    private static void explainConnection(Directive each, String value) {
        if (value.isEmpty() || value.equalsIgnoreCase("keep-alive")) {
            each.note("connections to origins are kept open by default");
        } else if (value.equalsIgnoreCase("close")) {
            each.notMapped("the importer does not translate the value; origin.keep_alive: 0 closes the connections to"
                    + " all origins after each request");
        } else {
            each.note("Millrace writes Connection itself when it forwards Upgrade");
        }
    }

    /** Translates the fields of responses for one rule. */
    void translateResponseFields(Scope scope, UrlBase base, DraftNode rule, Draft draft) {
        rules.add(rule);
        for (Directive each : scope.all("proxy_hide_header", "grpc_hide_header")) {
            rules.removeResponseField(rule, each);
        }
        // The directives of all levels apply, before expires and add_header.
        for (Directive each : scope.everywhere("more_set_headers", "more_clear_headers")) {
            rules.more(rule, each);
        }
        for (Directive each : scope.all("expires")) {
            rules.expires(rule, each, "");
        }
        for (Directive each : scope.all("add_header")) {
            String name = each.arg(0).toLowerCase(Locale.ROOT);
            if (name.equals("strict-transport-security")) {
                writeHsts(each, draft);
            } else if (each.arg(1).contains("$upstream_cache_status")) {
                rules.cacheResult(rule, scope, each, "");
            } else {
                rules.addResponseField(rule, scope, base, each, "");
            }
        }
        for (Directive each : scope.all("proxy_pass_header", "grpc_pass_header")) {
            if (!each.isHandled()) {
                each.note("fields of origins are passed on by default");
            }
        }
    }

    /**
     * Translates one directive of a location with an expression.
     *
     * @param when condition for the requests of the location
     */
    void translateForExpression(Scope scope, UrlBase base, DraftNode rule, Directive directive, String when) {
        if (directive.name().equals("expires")) {
            rules.expires(rule, directive, when);
        } else if (directive.arg(1).contains("$upstream_cache_status")) {
            rules.cacheResult(rule, scope, directive, when);
        } else {
            rules.addResponseField(rule, scope, base, directive, when);
        }
    }

    /** Translates the fields of responses that the proxy itself generates, except Content-Type. */
    void translateAnswerFields(Scope scope, UrlBase base, DraftNode rule) {
        for (Directive each : scope.everywhere("more_set_headers", "more_clear_headers")) {
            rules.more(rule, each);
        }
        for (Directive each : scope.all("expires")) {
            rules.expires(rule, each, "");
        }
        for (Directive each : scope.all("add_header")) {
            if (each.arg(1).contains("$upstream_")) {
                each.note("the field is not sent, because there is no origin");
            } else if (!AnswerRule.isType(each) && !each.arg(0).equalsIgnoreCase("Strict-Transport-Security")) {
                rules.addResponseField(rule, scope, base, each, "");
            }
        }
    }

    private static void writeHsts(Directive each, Draft draft) {
        String text = each.arg(1).toLowerCase(Locale.ROOT);
        java.util.regex.Matcher age =
                java.util.regex.Pattern.compile("max-age=\"?(\\d{1,10})").matcher(text);
        if (!age.find()) {
            each.notMapped("the value has no max-age");
            return;
        }
        long seconds = Math.min(Long.parseLong(age.group(1)), 3650L * 86_400);
        DraftNode written =
                draft.root().put("tls.hsts.max_age", io.millrace.launcher.importing.source.Quantity.seconds(seconds));
        written.from(each.markHandled());
        boolean includesSubdomains = text.contains("includesubdomains");
        if (includesSubdomains) {
            draft.root().put("tls.hsts.include_subdomains", "true").from(each.entry());
        }
        if (text.contains("preload") && includesSubdomains && seconds >= 365L * 86_400) {
            draft.root().put("tls.hsts.preload", "true").from(each.entry());
        } else if (text.contains("preload")) {
            each.notMapped("preload needs includeSubDomains and a max-age of at least 365 days");
        }
    }

    /**
     * Writes the changed fields into the remap rules, or into {@code rules} for all requests.
     *
     * @param common blocks whose directives all requests inherit
     */
    void writeRules(Draft draft, List<Directive> common) {
        rules.write(draft, common);
    }

    /**
     * Writes the fields that inform origins about clients. nginx sends only the fields that its configuration names.
     */
    void writeForwardedFields(Draft draft) {
        List<String> fields = List.copyOf(forwarded.keySet());
        List<String> millraceDefault = List.of("x-forwarded-for", "x-forwarded-proto", "x-forwarded-host");
        if (fields.containsAll(millraceDefault) && fields.size() == millraceDefault.size()) {
            forwarded.values().forEach(all -> all.forEach(entry -> entry.matchesDefaultOf("access.forwarded_fields")));
            return;
        }
        DraftNode node = draft.root().putWords("access.forwarded_fields", fields.isEmpty() ? List.of("none") : fields);
        forwarded.values().forEach(all -> all.forEach(node::from));
        node.remark("nginx sends only the fields that proxy_set_header names; without the line: "
                + String.join(", ", millraceDefault));
    }
}
