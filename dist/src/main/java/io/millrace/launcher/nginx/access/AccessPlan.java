package io.millrace.launcher.nginx.access;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Addresses;
import io.millrace.launcher.nginx.request.Conditions;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Translates nginx directives that restrict clients to filters of a rule. Stateless. */
public final class AccessPlan {
    /**
     * Directives that authenticate clients. The import translates only some uses of auth_request: see
     * {@link AuthRequest}.
     */
    private static final List<String> AUTHENTICATION = List.of(
            "auth_basic",
            "auth_request",
            "auth_jwt",
            "auth_digest",
            "auth_pam",
            "auth_gss",
            "auth_spnego",
            "auth_oidc",
            "auth_saml",
            "secure_link",
            "auth_ldap",
            "access_by_lua",
            "access_by_lua_block",
            "access_by_lua_file");

    private AccessPlan() {}

    /**
     * Returns true if directives of the scope authenticate clients. Marks them as not mapped. The rule must then deny
     * all clients, because the imported configuration does not authenticate them.
     */
    public static boolean requiresAuthentication(Scope scope) {
        boolean isRequired = false;
        for (String name : AUTHENTICATION) {
            Directive found = scope.last(name);
            if (found != null && !found.arg(0).equals("off")) {
                found.notMapped("authentication is not translated, so the rule denies all clients; write basic_auth or"
                        + " signed_urls");
                isRequired = true;
            }
        }
        return isRequired;
    }

    /** Returns the directive of a scope that authenticates clients. Returns null if there is none. */
    static @Nullable Directive authentication(Scope scope) {
        for (String name : AUTHENTICATION) {
            Directive found = scope.last(name);
            if (found != null && !found.arg(0).equals("off")) {
                return found;
            }
        }
        return null;
    }

    /** Returns true if only directives with the given name authenticate the clients of a scope. */
    static boolean isOnlyAuthentication(Scope scope, String name) {
        for (String each : AUTHENTICATION) {
            Directive found = each.equals(name) ? null : scope.last(each);
            if (found != null && !found.arg(0).equals("off")) {
                return false;
            }
        }
        return true;
    }

    /** Returns true if a directive with the name authenticates clients. */
    public static boolean isAuthentication(String name) {
        return AUTHENTICATION.contains(name);
    }

    /** Returns the {@code internal} directive, which closes a location to clients; null if there is none. */
    @Nullable
    public static Directive internal(Scope scope) {
        List<Directive> found = scope.own("internal");
        return found.isEmpty() ? null : found.get(0);
    }

    /** Writes the filters of a rule, from allow, deny, limit_except and conditions on methods. */
    public static void write(Scope scope, DraftNode rule) {
        for (Directive each : scope.own("auth_request", "auth_basic")) {
            if (each.arg(0).equals("off")) {
                each.note("the value is off, as in Millrace");
            }
        }
        writeMethods(scope, rule);
        List<Directive> exceptions = scope.own("limit_except").stream()
                .filter(each -> !limitExcept(each, rule))
                .toList();
        if (exceptions.isEmpty()) {
            writeAllowAndDeny(scope, rule, List.of(), false);
            return;
        }
        // The directives around limit_except apply to its methods, those inside to the other methods.
        List<String> methods = withHead(exceptions.get(0).args());
        writeAllowAndDeny(scope, rule, methods, false);
        DraftNode allowFilter =
                rule.addElement("filters").from(exceptions.get(0).markHandled());
        allowFilter.put("action", "allow");
        allowFilter.putWords("methods", methods);
        for (Directive each : exceptions) {
            Scope inner = new Scope(null, each);
            each.markHandled();
            if (requiresAuthentication(inner)) {
                rule.addElement("filters").put("action", "deny");
                inner.all("allow", "deny").forEach(line -> line.note("other methods need authentication"));
            } else {
                writeAllowAndDeny(inner, rule, List.of(), true);
            }
        }
    }

    /**
     * Reports access directives as mapped, for a remap rule with elements of {@code rules} instead of filters.
     *
     * @see RefusedRequests
     */
    public static void recordRules(Scope scope) {
        requiresAuthentication(scope);
        for (Directive each : RefusedRequests.directives(scope)) {
            each.markHandled().recordKey("rules");
            each.children().forEach(child -> child.note("other requests are answered with 403"));
        }
    }

    /**
     * Writes the filters for allow and deny directives.
     *
     * @param methods methods to which the directives apply; empty for all
     * @param hasEarlierAllow whether an earlier filter allows some requests; all other allowed requests then need a
     *     filter too
     */
    private static void writeAllowAndDeny(Scope scope, DraftNode rule, List<String> methods, boolean hasEarlierAllow) {
        List<Directive> lines = scope.all("allow", "deny");
        if (lines.isEmpty() && !hasEarlierAllow) {
            return;
        }
        boolean allows = hasEarlierAllow;
        boolean hasAllLine = false;
        for (List<Directive> run : runs(lines)) {
            String action = run.get(0).name();
            List<String> addresses = new ArrayList<>();
            boolean forAllClients = false;
            for (Directive each : run) {
                String word = each.arg(0);
                if (word.equals("all")) {
                    forAllClients = true;
                } else if (word.equals("unix:")) {
                    addresses.add(word);
                } else if (!Addresses.isMapped(word)) {
                    addresses.add(Addresses.of(word));
                } else if (action.equals("deny")) {
                    addresses.add(Addresses.ofMapped(word));
                } else {
                    each.notMapped(
                            "nginx compares IPv4 clients with IPv4 addresses only; write " + Addresses.ofMapped(word));
                }
            }
            if (addresses.isEmpty() && !forAllClients) {
                continue;
            }
            DraftNode element = rule.addElement("filters");
            element.put("action", action);
            if (!forAllClients) {
                element.putWords("src_ip", addresses);
            }
            if (!methods.isEmpty()) {
                element.putWords("methods", methods);
            }
            run.forEach(each -> element.from(each.markHandled()));
            allows |= action.equals("allow");
            hasAllLine |= forAllClients;
            if (forAllClients) {
                break;
            }
        }
        lines.forEach(each -> {
            if (!each.isHandled()) {
                each.note("an earlier line decides for all clients");
            }
        });
        if (allows && !hasAllLine && methods.isEmpty()) {
            rule.addElement("filters").put("action", "allow").remark("nginx allows clients that no line names");
        }
    }

    /**
     * Groups consecutive lines with the same action, since one filter can contain their addresses. A line for all
     * clients is a group of its own.
     */
    private static List<List<Directive>> runs(List<Directive> lines) {
        List<List<Directive>> runs = new ArrayList<>();
        String last = "";
        for (Directive each : lines) {
            boolean isForAllClients = each.arg(0).equals("all");
            if (!each.name().equals(last) || isForAllClients) {
                runs.add(new ArrayList<>());
            }
            runs.get(runs.size() - 1).add(each);
            last = isForAllClients ? "" : each.name();
        }
        return runs;
    }

    /** Writes the methods of a block that refuses all clients with other methods. Returns false for other blocks. */
    private static boolean limitExcept(Directive block, DraftNode rule) {
        boolean denies = !block.children().isEmpty()
                && block.children().stream()
                        .allMatch(child ->
                                child.name().equals("deny") && child.arg(0).equals("all"));
        if (denies) {
            permit(rule, withHead(block.args())).from(block.markHandled());
            block.entry().note("other methods are answered with 405; nginx answers 403");
            block.children().forEach(child -> child.note("the importer uses the directive for limit_except"));
        }
        return denies;
    }

    /** Adds HEAD to a list that contains GET, as nginx does. */
    static List<String> withHead(List<String> words) {
        List<String> methods = new ArrayList<>(words);
        if (methods.contains("GET") && !methods.contains("HEAD")) {
            methods.add("HEAD");
        }
        return methods;
    }

    private static void writeMethods(Scope scope, DraftNode rule) {
        for (Directive each : methodConditions(scope)) {
            List<String> methods = Conditions.permittedMethods(each);
            if (methods != null) {
                permit(rule, methods).from(each.markHandled());
                each.children().forEach(child -> child.note("other methods are answered with 405"));
            }
        }
    }

    /** Restricts a rule to the given methods. Removes methods that an earlier directive does not permit. */
    private static DraftNode permit(DraftNode rule, List<String> methods) {
        DraftNode earlierMethods = rule.field("methods");
        List<String> before = earlierMethods == null ? null : earlierMethods.words();
        return rule.putWords(
                "methods",
                before == null
                        ? methods
                        : methods.stream().filter(before::contains).toList());
    }

    /**
     * Returns the {@code if} directives that refuse other methods. Those of the server apply to all locations, also to
     * a location with conditions of its own.
     */
    static List<Directive> methodConditions(Scope scope) {
        return scope.everywhere("if").stream()
                .filter(each -> Conditions.permittedMethods(each) != null)
                .toList();
    }

    /** Returns the {@code return} directive with which a scope refuses all requests. Returns null if there is none. */
    @Nullable
    public static Directive refusal(Scope scope) {
        for (Directive each : scope.own("return")) {
            if (each.arg(0).matches("4\\d\\d") && each.args().size() == 1) {
                return each;
            }
        }
        return null;
    }

    /** Returns true if a deny filter answers like the directive: with 403, or without a response. */
    public static boolean isDenial(Directive refusal) {
        return List.of("403", "444").contains(refusal.arg(0));
    }

    /** Returns true if a scope denies all clients. */
    public static boolean onlyDenies(Scope scope) {
        List<Directive> lines = scope.own("allow", "deny");
        return !lines.isEmpty()
                && lines.get(0).name().equals("deny")
                && lines.get(0).arg(0).equals("all");
    }
}
