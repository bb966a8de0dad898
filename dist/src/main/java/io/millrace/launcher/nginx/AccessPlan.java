package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Addresses;
import io.millrace.launcher.nginx.request.Conditions;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Translates nginx directives that restrict clients to filters of a rule. Stateless. */
final class AccessPlan {
    /** Directives that authenticate clients. The import does not translate them. */
    private static final List<String> AUTHENTICATION =
            List.of("auth_basic", "auth_request", "auth_jwt", "auth_digest", "auth_pam", "secure_link", "auth_ldap");

    private AccessPlan() {}

    /**
     * Returns true if a directive of the scope authenticates clients. Marks it as not mapped. The rule must then deny
     * all clients, because the imported configuration does not authenticate them.
     */
    static boolean requiresAuthentication(Scope scope) {
        for (String name : AUTHENTICATION) {
            Directive found = scope.last(name);
            if (found != null && !found.arg(0).equals("off")) {
                found.notMapped("authentication is not translated, so the rule denies all clients; write basic_auth or"
                        + " signed_urls");
                return true;
            }
        }
        return false;
    }

    /** Writes the filters of a rule, from allow, deny, limit_except and conditions on methods. */
    static void write(Scope scope, DraftNode rule) {
        limitExcept(scope, rule);
        methods(scope, rule);
        List<Directive> lines = scope.all("allow", "deny");
        if (lines.isEmpty()) {
            return;
        }
        boolean allows = false;
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
                } else {
                    addresses.add(Addresses.of(word));
                }
            }
            if (addresses.isEmpty() && !forAllClients) {
                continue;
            }
            DraftNode element = rule.element("filters");
            element.put("action", action);
            if (!forAllClients) {
                element.putWords("src_ip", addresses);
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
        if (allows && !hasAllLine) {
            rule.element("filters").put("action", "allow").remark("nginx allows clients that no line names");
        }
    }

    /**
     * Groups consecutive lines with the same action, since one filter can have their addresses. A line for all clients
     * is alone.
     */
    private static List<List<Directive>> runs(List<Directive> lines) {
        List<List<Directive>> runs = new ArrayList<>();
        String last = "";
        for (Directive each : lines) {
            boolean alone = each.arg(0).equals("all");
            if (!each.name().equals(last) || alone) {
                runs.add(new ArrayList<>());
            }
            runs.get(runs.size() - 1).add(each);
            last = alone ? "" : each.name();
        }
        return runs;
    }

    private static void limitExcept(Scope scope, DraftNode rule) {
        for (Directive each : scope.own("limit_except")) {
            List<String> methods = withHead(each.args());
            boolean denies = each.children().stream()
                    .allMatch(
                            child -> child.name().equals("deny") && child.arg(0).equals("all"));
            if (denies && !each.children().isEmpty()) {
                rule.putWords("methods", methods).from(each.markHandled());
                each.entry().note("other methods are answered with 405, in nginx with 403");
                each.children().forEach(child -> child.note("taken into account with limit_except"));
                continue;
            }
            DraftNode allowFilter = rule.element("filters").from(each.markHandled());
            allowFilter.put("action", "allow");
            allowFilter.putWords("methods", methods);
            Scope inner = new Scope(null, each);
            write(inner, rule);
            if (requiresAuthentication(inner)) {
                rule.element("filters").put("action", "deny");
            }
        }
    }

    /** Adds HEAD to a list with GET, as nginx does. */
    private static List<String> withHead(List<String> words) {
        List<String> methods = new ArrayList<>(words);
        if (methods.contains("GET") && !methods.contains("HEAD")) {
            methods.add("HEAD");
        }
        return methods;
    }

    private static void methods(Scope scope, DraftNode rule) {
        Directive found = null;
        for (Directive each : scope.all("if")) {
            List<String> methods = Conditions.permittedMethods(each);
            if (methods != null && found == null) {
                found = each;
                rule.putWords("methods", methods).from(each.markHandled());
                each.children().forEach(child -> child.note("other methods are answered with 405"));
            }
        }
    }

    /** Returns the {@code return} directive with which a scope refuses all requests. Returns null if there is none. */
    @Nullable
    static Directive refusal(Scope scope) {
        for (Directive each : scope.own("return")) {
            if (each.arg(0).matches("4\\d\\d") && each.args().size() == 1) {
                return each;
            }
        }
        return null;
    }

    /** Returns true if a deny filter answers like the directive: with 403, or without a response. */
    static boolean isDenial(Directive refusal) {
        return List.of("403", "444").contains(refusal.arg(0));
    }

    /** Returns true if a scope denies all clients. */
    static boolean onlyDenies(Scope scope) {
        List<Directive> lines = scope.own("allow", "deny");
        return !lines.isEmpty()
                && lines.get(0).name().equals("deny")
                && lines.get(0).arg(0).equals("all");
    }
}
