package io.millrace.launcher.nginx.request;

import io.millrace.launcher.importing.Workspace;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The translator of {@code limit_req} directives to {@code request_limits}. Confined to one thread. */
public final class RequestLimits {
    private static final Pattern RATE = Pattern.compile("(\\d{1,7})r/([sm])");

    /** The limits of one remap rule. */
    private record Limited(DraftNode node, List<Directive> limits, boolean dryRun, Scope scope) {}

    private final Scope http;
    private final Map<String, Directive> zones = new HashMap<>();
    private final List<Limited> rules = new ArrayList<>();

    /** @param http scope with the {@code limit_req_zone} directives */
    public RequestLimits(Scope http) {
        this.http = http;
        for (Directive each : http.own("limit_req_zone")) {
            String zone = option(each, "zone");
            if (zone != null) {
                zones.put(zone.replaceAll(":.*", ""), each);
            }
        }
    }

    private static @Nullable String option(Directive directive, String name) {
        return directive.args().stream()
                .filter(each -> each.startsWith(name + "="))
                .map(each -> each.substring(name.length() + 1))
                .findFirst()
                .orElse(null);
    }

    /** Adds a remap rule, with or without limits. */
    public void add(DraftNode node, Scope scope) {
        rules.add(new Limited(node, scope.all("limit_req"), scope.isOn("limit_req_dry_run"), scope));
    }

    /** Writes the limits into the remap rules, or once for all requests if the rules have the same limits. */
    public void write(Workspace workspace) {
        if (rules.isEmpty()) {
            return;
        }
        Limited first = rules.get(0);
        boolean same = areForAllRequests(first)
                && rules.stream().allMatch(each -> each.limits.equals(first.limits) && each.dryRun == first.dryRun);
        Map<String, Integer> uses = new LinkedHashMap<>();
        for (Limited each : same ? rules.subList(0, 1) : rules) {
            for (Directive limit : each.limits) {
                DraftNode into = same ? workspace.draft().root() : each.node;
                if (!write(into, limit, each, uses)) {
                    workspace.warn(
                            "requests are not limited: see " + limit.entry().place());
                }
            }
            Directive status = each.scope.last("limit_req_status");
            if (status != null && status.arg(0).equals("429")) {
                status.markHandled().matchesDefaultOf("request_limits");
            } else if (status != null) {
                status.note("requests beyond a limit are answered with 429");
            }
        }
    }

    /**
     * Returns true if all requests inherit the limits of a rule: those of the block {@code http}, or of the only
     * server. With several servers, a key with the name of the server counts the requests of each server separately.
     */
    private boolean areForAllRequests(Limited rule) {
        List<Directive> servers = http.own("server");
        List<Directive> outer = new ArrayList<>(http.own("limit_req"));
        if (servers.size() == 1) {
            outer.addAll(servers.get(0).children("limit_req"));
        }
        return outer.containsAll(rule.limits)
                && (servers.size() == 1 || rule.limits.stream().noneMatch(this::isByServer));
    }

    private boolean isByServer(Directive limit) {
        Directive zone = zones.get(String.valueOf(option(limit, "zone")));
        return zone != null && zone.arg(0).replaceAll("[{}]", "").contains("$server_name");
    }

    /** Writes a limit. Returns false if it has no equivalent. */
    private boolean write(DraftNode into, Directive limit, Limited rule, Map<String, Integer> uses) {
        String name = option(limit, "zone");
        Directive zone = name == null ? null : zones.get(name);
        String rate = zone == null ? null : option(zone, "rate");
        Matcher parts = RATE.matcher(rate == null ? "" : rate);
        List<String> keys = zone == null ? List.of() : keys(zone.arg(0));
        if (zone == null || !parts.matches() || keys.isEmpty()) {
            limit.notMapped("the limit needs a zone with a rate, whose key is the client, the host, or one request"
                    + " field; nginx ignores the case of the names of cookies and parameters");
            return false;
        }
        int number = uses.merge(String.valueOf(name), 1, Integer::sum);
        DraftNode element = into.addElement("request_limits").removableIfInvalid();
        element.put("name", number == 1 ? String.valueOf(name) : name + "-" + number);
        if (!keys.equals(List.of("client"))) {
            element.putWords("key", keys);
        }
        element.put("rate", parts.group(1) + "/" + parts.group(2));
        String burst = option(limit, "burst");
        // nginx counts the requests beyond the first one.
        long atOnce = burst != null && burst.matches("\\d{1,6}") ? Long.parseLong(burst) + 1 : 1;
        element.put("burst", Long.toString(atOnce));
        Directive dryRun = rule.scope.last("limit_req_dry_run");
        if (rule.dryRun && dryRun != null) {
            element.put("dry_run", "true").from(dryRun.markHandled());
        }
        element.from(limit.markHandled());
        element.from(zone.markHandled());
        if (burst != null && !limit.args().contains("nodelay")) {
            limit.entry().note("requests are not delayed: those of a burst are sent on at once");
        }
        if (number > 1) {
            limit.entry()
                    .note("each remap rule counts its own requests; nginx counts all requests of the zone"
                            + " together");
        }
        return true;
    }

    /**
     * Returns the parts of a key. Returns an empty list if a part has no equivalent. A request field has an
     * equivalent only if it is the only part: with another part, nginx also counts requests without the field. The
     * name of the server is the same for all requests of a rule.
     */
    private static List<String> keys(String text) {
        List<String> keys = new ArrayList<>();
        for (String part : text.replaceAll("[{}]", "").split("(?=\\$)", -1)) {
            String variable = part.startsWith("$") ? part.substring(1) : "";
            String rest = variable.substring(variable.indexOf('_') + 1);
            if (variable.matches("(binary_)?remote_addr")) {
                keys.add("client");
            } else if (variable.matches("(http_)?host")) {
                keys.add("host");
            } else if (variable.matches("http_\\w+")) {
                keys.add("request_header[" + RuleTexts.literal(rest.replace('_', '-')) + "]");
            } else if (!variable.equals("server_name")) {
                return List.of();
            }
        }
        boolean optional = keys.stream().anyMatch(each -> each.endsWith("]"));
        boolean isOnlyPart = !text.contains("server_name") && keys.size() == 1;
        return optional && !isOnlyPart ? List.of() : keys.isEmpty() ? List.of("all") : keys;
    }
}
