package io.millrace.launcher.nginx.access;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.importing.source.Addresses;
import io.millrace.launcher.nginx.request.Conditions;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Conditions of {@code rules} for the requests that the access directives of a block refuse. Stateless. */
public final class RefusedRequests {
    /** The condition that no request meets. */
    public static final String NONE = "";

    /** The condition that all requests meet. */
    public static final String ALL = "path =~ \"\"";

    private RefusedRequests() {}

    /**
     * Returns the condition for the requests that allow, deny, limit_except, authentication, internal, and conditions
     * on methods refuse. Returns null if the condition has no equivalent.
     */
    @Nullable
    public static String of(Scope scope) {
        if (AccessPlan.authentication(scope) != null || AccessPlan.internal(scope) != null) {
            return ALL;
        }
        String clients = clients(scope);
        List<String> parts = new ArrayList<>();
        for (Directive each : AccessPlan.methodConditions(scope)) {
            List<String> methods = Conditions.permittedMethods(each);
            if (methods != null) {
                parts.add("!(" + in("method", methods) + ")");
            }
        }
        for (Directive each : scope.own("limit_except")) {
            Scope inner = new Scope(null, each);
            String refused =
                    AccessPlan.authentication(inner) == null ? refusedClients(inner.all("allow", "deny")) : ALL;
            String methods = in("method", AccessPlan.withHead(each.args()));
            if (refused == null || clients == null || replacesClients(scope)) {
                return null;
            }
            if (!refused.equals(NONE)) {
                parts.add(refused.equals(ALL) ? "!(" + methods + ")" : "!(" + methods + ") && (" + refused + ")");
            }
            clients = clients.isEmpty() ? NONE : methods + " && (" + clients + ")";
        }
        if (clients == null) {
            return null;
        }
        if (!clients.isEmpty()) {
            parts.add(clients);
        }
        boolean isSimple = parts.size() == 1 && !parts.get(0).contains(" && ");
        return parts.isEmpty() ? NONE : parts.contains(ALL) ? ALL : isSimple ? parts.get(0) : any(parts);
    }

    /** Returns true if a location refuses all clients, or authenticates them. */
    public static boolean isClosed(Scope scope) {
        return AccessPlan.authentication(scope) != null || AccessPlan.internal(scope) != null || ALL.equals(of(scope));
    }

    /** Returns the directives that restrict clients and methods. */
    public static List<Directive> directives(Scope scope) {
        List<Directive> all = new ArrayList<>(scope.all("allow", "deny"));
        all.addAll(AccessPlan.methodConditions(scope));
        for (Directive each : scope.own("limit_except")) {
            all.add(each);
            all.addAll(each.children());
        }
        return all;
    }

    /** Returns true if two scopes refuse the same requests. */
    public static boolean isSame(Scope one, Scope other) {
        String first = of(one);
        String second = of(other);
        return (first != null && second != null)
                ? first.equals(second)
                : texts(directives(one)).equals(texts(directives(other)));
    }

    private static List<String> texts(List<Directive> directives) {
        return directives.stream().map(each -> each.name() + " " + each.text()).toList();
    }

    /**
     * Writes the refusal of requests into a remap rule.
     *
     * @param source the location
     * @param scope the scope with the restrictions
     */
    public static void write(DraftNode node, String when, Directive source, Scope scope) {
        DraftNode rule = node.addElement("rules").removableIfInvalid();
        rule.from(source.markHandled());
        AccessPlan.recordRules(scope);
        rule.put("when", when);
        rule.put("answer.status", "403");
    }

    /**
     * Returns the condition for the requests that a location or the named location of its try_files refuses. Returns
     * null if the condition has no equivalent.
     */
    @Nullable
    public static String of(Scope location, Scope handler) {
        String byLocation = of(location);
        String byHandler = location == handler ? byLocation : of(handler);
        if (byLocation == null
                || byHandler == null
                || byLocation.equals(byHandler)
                || byLocation.equals(ALL)
                || byHandler.equals(NONE)) {
            return byHandler == null ? null : byLocation;
        }
        return byHandler.equals(ALL) || byLocation.equals(NONE) ? byHandler : any(List.of(byLocation, byHandler));
    }

    private static String any(List<String> parts) {
        return parts.stream().collect(Collectors.joining(" || ", "(", ")"));
    }

    /** Returns true if nginx takes the client's address from a request field. */
    public static boolean replacesClients(Scope scope) {
        return !scope.all("set_real_ip_from").isEmpty()
                && !scope.value("real_ip_header", "X-Real-IP").equals("proxy_protocol");
    }

    private static @Nullable String clients(Scope scope) {
        String refused = refusedClients(scope.all("allow", "deny"));
        boolean compares = refused != null && !refused.equals(NONE) && !refused.equals(ALL);
        return compares && replacesClients(scope) ? null : refused;
    }

    /** Returns the condition for the clients that a list of allow and deny directives refuses. */
    private static @Nullable String refusedClients(List<Directive> lines) {
        String refused = NONE;
        for (int i = lines.size() - 1; i >= 0; i--) {
            String word = lines.get(i).arg(0);
            boolean deny = lines.get(i).name().equals("deny");
            if (word.equals("all")) {
                refused = deny ? ALL : NONE;
                continue;
            }
            String address = Addresses.of(word);
            if (Addresses.isMapped(address) || Addresses.problem(List.of(address)) != null || word.equals("unix:")) {
                return null;
            }
            String client = "client in (" + RuleTexts.literal(address) + ")";
            if (deny) {
                refused = refused.equals(NONE) ? client : refused.equals(ALL) ? ALL : joined(client, refused);
            } else if (!refused.equals(NONE)) {
                refused = refused.equals(ALL) ? "!(" + client + ")" : excluded(client, refused);
            }
        }
        return refused;
    }

    /**
     * Adds an address to the refused clients. Extends the list in a simple condition, else adds an alternative with
     * "||".
     */
    private static String joined(String client, String refused) {
        boolean simple = refused.startsWith("client in (") && refused.indexOf(')') == refused.length() - 1;
        return simple
                ? client.substring(0, client.length() - 1) + ", " + refused.substring("client in (".length())
                : "(" + client + " || " + refused + ")";
    }

    /** Excludes an address from the refused clients. */
    private static String excluded(String client, String refused) {
        boolean simple = refused.startsWith("!(client in (") && refused.indexOf(')') == refused.length() - 2;
        return simple
                ? "!(" + client.substring(0, client.length() - 1) + ", " + refused.substring("!(client in (".length())
                : "(!(" + client + ") && " + refused + ")";
    }

    private static String in(String field, List<String> values) {
        return values.stream().map(RuleTexts::literal).collect(Collectors.joining(", ", field + " in (", ")"));
    }
}
