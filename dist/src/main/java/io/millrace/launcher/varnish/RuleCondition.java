package io.millrace.launcher.varnish;

import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.importing.draft.UrlExpressions;
import io.millrace.launcher.varnish.syntax.Condition;
import io.millrace.launcher.varnish.syntax.Condition.Test;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The translator of VCL conditions to conditions of {@code rules}. Confined to one thread. */
final class RuleCondition {
    /**
     * Pattern of the regular expressions that cannot match a question mark. Each match of such an expression is in the
     * path or in the query.
     */
    private static final String WITHOUT_QUERY =
            "(?:[A-Za-z0-9/_~%=&,:;@!-]|\\\\[./_+-]|[()|?*+]|\\(\\?[:i]|\\[[A-Za-z0-9/_-]+])*";

    /** The end of an expression that permits any query after the path. */
    private static final String ANY_QUERY = "(\\((\\?:)?\\\\\\?\\.\\*\\)\\?\\$|\\((\\?:)?\\\\\\?\\|\\$\\))$";

    /**
     * The condition for responses that are stale when they arrive, or have no lifetime in VCL because of their status.
     * It is also true for responses with Expires and without max-age.
     */
    private static final String EXPIRED = "(!(status in (200, 203, 204, 206, 300, 301, 304, 404, 410, 414))"
            + " || response_header[\"Cache-Control\"] =~ \"(?i)(?:max-age|s-maxage) *= *0*(?:[^0-9]|$)\""
            + " || (response_header[\"Expires\"] =~ \"\""
            + " && !(response_header[\"Cache-Control\"] =~ \"(?i)max-age|s-maxage\")))";

    private final VclImportState state;
    /** Fields that statements changed, in lower case: {@code req.http.x}. Rules compare the unchanged fields. */
    private final Set<String> changed;

    /** The first test that has no equivalent; empty if there is none. */
    private String problem = "";
    /** True if a test of the lifetime becomes a condition that matches more responses than in VCL. */
    private boolean isApproximate;

    RuleCondition(VclImportState state, Set<String> changed) {
        this.state = state;
        this.changed = changed;
    }

    /** Note for a rule that also applies to requests for which an earlier return ends the subroutine. */
    static final String ALSO_BEFORE_RETURN =
            "the rule also applies to requests for which an earlier return ends the subroutine; exclude these requests"
                    + " by the key 'when'";

    /** Returns a note that names the test without an equivalent. Call it after {@link #of} has returned null. */
    String noEquivalent() {
        return "'" + problem + "': conditions of rules cannot test it; write a rule by hand";
    }

    /**
     * A condition.
     *
     * @param text the text; empty if all requests meet it
     * @param partial true if requests for which an earlier return ended the subroutine meet the condition too
     */
    record When(String text, boolean partial) {
        /** Returns true if the condition reads a field or the address of the client. */
        boolean readsClient() {
            return RuleCondition.readsClient(text);
        }
    }

    /**
     * Returns the condition under which a statement is reached. Returns null if it has no equivalent.
     *
     * @param shared whether the rule changes stored responses, so that its condition must not read the client
     */
    @Nullable
    When of(Walker.PathConditions pathConditions, boolean shared) {
        List<Condition> all = new ArrayList<>(pathConditions.branches());
        all.addAll(pathConditions.passedReturns());
        String whole = of(all);
        String branches = of(pathConditions.branches());
        if (branches == null) {
            return null;
        }
        boolean partial = whole == null || (shared && readsClient(whole) && !readsClient(branches));
        return new When(whole == null || partial ? branches : whole, partial);
    }

    /**
     * Returns the condition for a lifetime that a statement sets. It may exclude more responses than VCL does,
     * because a part of an earlier return's condition has no equivalent. Returns null if there is no equivalent.
     */
    @Nullable
    String ofLifetime(Walker.PathConditions pathConditions) {
        isApproximate = true;
        String branches = of(pathConditions.branches());
        List<String> parts = new ArrayList<>();
        if (branches != null && !branches.isEmpty()) {
            parts.add(branches);
        }
        for (Condition each : pathConditions.passedReturns()) {
            String excluded = each instanceof Condition.Not not ? wider(not.inner()) : null;
            String part = excluded == null ? text(each) : "!(" + excluded + ")";
            if (part == null || branches == null) {
                isApproximate = false;
                return null;
            }
            parts.add(part);
        }
        isApproximate = false;
        String text = branches == null ? null : String.join(" && ", parts);
        return text == null || readsClient(text) ? null : text;
    }

    /**
     * Returns the condition for responses that a statement excludes from storing. It may match more responses than in
     * VCL. Returns null if it has no equivalent, or if all responses would meet it.
     */
    @Nullable
    String ofExcluded(List<Condition> around) {
        isApproximate = true;
        String text = around.isEmpty() ? null : wider(new Condition.All(around));
        isApproximate = false;
        return text == null || readsClient(text) ? null : text;
    }

    /**
     * Returns a condition that is true at least whenever the given one is true. Returns null if it would always be
     * true.
     */
    private @Nullable String wider(Condition condition) {
        if (condition instanceof Condition.Not || condition instanceof Test) {
            String text = text(condition);
            return text == null || readsClient(text) ? null : text;
        }
        boolean any = condition instanceof Condition.Any;
        List<Condition> parts =
                condition instanceof Condition.Any one ? one.parts() : ((Condition.All) condition).parts();
        List<String> texts = new ArrayList<>();
        for (Condition part : parts) {
            String text = wider(part);
            if (text != null) {
                texts.add(text);
            } else if (any) {
                return null;
            }
        }
        String joined = String.join(any ? " || " : " && ", texts);
        return texts.isEmpty() ? null : texts.size() > 1 ? "(" + joined + ")" : joined;
    }

    private static boolean readsClient(String condition) {
        return condition.contains("request_header[") || condition.contains("client in");
    }

    /** Returns the condition for tests that must all be true; null if one of them has no equivalent. */
    private @Nullable String of(List<Condition> around) {
        problem = "";
        List<String> parts = new ArrayList<>();
        for (Condition each : around) {
            String part = text(each);
            if (part == null) {
                return null;
            }
            parts.add(part);
        }
        return String.join(" && ", parts);
    }

    private @Nullable String text(Condition condition) {
        if (condition instanceof Condition.Not not) {
            String inner = text(not.inner());
            return inner == null ? null : "!(" + inner + ")";
        }
        if (condition instanceof Test test) {
            String text = test(test);
            problem = text == null && problem.isEmpty() ? test.toString() : problem;
            return text;
        }
        boolean any = condition instanceof Condition.Any;
        List<Condition> parts =
                condition instanceof Condition.Any one ? one.parts() : ((Condition.All) condition).parts();
        List<String> texts = new ArrayList<>();
        for (Condition part : parts) {
            String text = text(part);
            if (text == null) {
                return null;
            }
            texts.add(text);
        }
        String joined = String.join(any ? " || " : " && ", texts);
        return texts.size() > 1 ? "(" + joined + ")" : joined;
    }

    private @Nullable String test(Test test) {
        String left = test.left().toLowerCase(Locale.ROOT);
        if (left.equals("req.url") || left.equals("bereq.url")) {
            return changed.contains("req.url") ? null : negatable(test, url(test));
        }
        if (left.equals("req.http.host") || left.equals("bereq.http.host")) {
            String host = test.right().replaceAll(":\\d+$", "");
            boolean upper = test.operator().endsWith("~") && !host.equals(host.toLowerCase(Locale.ROOT));
            return changed.contains("req.http.host") || test.operator().isEmpty()
                    ? null
                    : compared("host", test, upper && !host.startsWith("(?i)") ? "(?i)" + host : host);
        }
        if (left.equals("req.method") || left.equals("bereq.method") || left.equals("req.request")) {
            return compared("method", test, test.right());
        }
        if (left.equals("client.ip") || left.equals("remote.ip") || left.equals("std.ip(client.ip)")) {
            return negatable(test, client(test));
        }
        if (left.equals("resp.status") || left.equals("beresp.status")) {
            return status(test);
        }
        if (left.equals("beresp.ttl") && isApproximate) {
            String text = test.operator() + test.right();
            return text.matches("(<=|==)0(s|\\.0s)?|<1s") ? EXPIRED : text.matches(">0s") ? "!" + EXPIRED : null;
        }
        if (left.equals("obj.hits")) {
            String text = test.operator() + test.right();
            boolean hit = List.of("", ">0", "!=0", ">=1").contains(text);
            String cached = "cache in (\"hit\", \"stale\")";
            return hit ? cached : List.of("!", "==0", "<1").contains(text) ? "!(" + cached + ")" : null;
        }
        return field(left, test);
    }

    /**
     * Returns the condition for a test of the status. Varnish turns a response with 200 into 206 or 304 after VCL
     * has tested the status. In rules, the status is the one that the client gets.
     */
    private static @Nullable String status(Test test) {
        String operator = test.operator();
        if (!operator.matches("==|!=|<=?|>=?") || !test.right().matches("\\d{3}")) {
            return null;
        }
        int number = Integer.parseInt(test.right());
        boolean equal = operator.equals("==") || operator.equals("!=");
        if (equal && number == 200) {
            return operator.equals("==") ? "status in (200, 206, 304)" : "!(status in (200, 206, 304))";
        }
        String text = "status " + operator + " " + number;
        if (equal || number < 200 || number > 304) {
            return text;
        }
        boolean less = operator.startsWith("<");
        boolean matches200 = less ? number > 200 || operator.equals("<=") : number == 200 && operator.equals(">=");
        return matches200 ? "(" + text + " || status in (206, 304))" : "(" + text + " && !(status in (206, 304)))";
    }

    private @Nullable String field(String left, Test test) {
        String name = test.left().replaceAll(".*\\.http\\.", "");
        String normalized = left.replace("bereq.http.", "req.http.").replace("beresp.http.", "resp.http.");
        boolean request = normalized.startsWith("req.http.");
        if ((!request && !normalized.startsWith("resp.http."))
                || changed.contains(normalized)
                || !RuleTexts.isFieldName(name)) {
            return null;
        }
        return compared(
                (request ? "request_header[" : "response_header[") + RuleTexts.literal(name) + "]", test, test.right());
    }

    /** Returns the comparison of a field. A test without an operator is true if the field exists. */
    private static @Nullable String compared(String field, Test test, String right) {
        String literal = RuleTexts.literal(right);
        boolean constant = test.quoted();
        if (test.operator().endsWith("~") && !RuleTexts.isRe2(right)) {
            return null;
        }
        return switch (test.operator()) {
            case "" -> field + " =~ \"\"";
            case "!" -> "!(" + field + " =~ \"\")";
            case "==", "!=" -> constant ? field + " " + test.operator() + " " + literal : null;
            case "~" -> constant ? field + " =~ " + literal : null;
            case "!~" -> constant ? "!(" + field + " =~ " + literal + ")" : null;
            default -> null;
        };
    }

    /** Negates a condition if its test has a negated operator. */
    private static @Nullable String negatable(Test test, @Nullable String positive) {
        return positive == null ? null : test.operator().startsWith("!") ? "!(" + positive + ")" : positive;
    }

    private @Nullable String client(Test test) {
        List<String> addresses = test.operator().endsWith("~") && !test.quoted() ? state.addresses(test.right()) : null;
        if (addresses == null || addresses.isEmpty() || addresses.stream().anyMatch(each -> each.startsWith("~"))) {
            return null;
        }
        state.markAclUsed(test.right(), "rules");
        return addresses.stream().map(RuleTexts::literal).collect(Collectors.joining(", ", "client in (", ")"));
    }

    /** Returns the condition for a test of the URL. In VCL, the URL contains the query. */
    private static @Nullable String url(Test test) {
        String right = test.right();
        if (!test.quoted()) {
            return null;
        }
        if (test.operator().equals("==") || test.operator().equals("!=")) {
            int query = right.indexOf('?');
            String path = query < 0 ? right : right.substring(0, query);
            String queryText = query < 0 ? "" : right.substring(query + 1);
            return "(path == " + RuleTexts.literal(path) + " && query == " + RuleTexts.literal(queryText) + ")";
        }
        if (!test.operator().endsWith("~")) {
            return null;
        }
        String flag = right.startsWith("(?i)") ? "(?i)" : "";
        String body = right.substring(flag.length());
        boolean start = body.startsWith("^");
        String unanchored = start ? body.substring(1) : body;
        // The expression without its start anchor and without an end that permits any query.
        String withoutAnyQuery = unanchored.replaceAll(ANY_QUERY, "");
        boolean ends = withoutAnyQuery.endsWith("$") && !withoutAnyQuery.endsWith("\\$");
        String inner = ends
                ? withoutAnyQuery.substring(0, withoutAnyQuery.length() - 1)
                : withoutAnyQuery.replaceAll("(?<!\\\\)\\.\\*$", "");
        boolean permitsAnyQuery = !withoutAnyQuery.equals(unanchored);
        if (hasAlternatives(inner) && (start || ends || permitsAnyQuery)) {
            return alternatives(test, flag, body);
        }
        if (!inner.matches(WITHOUT_QUERY)) {
            return null;
        }
        String pattern = flag + (start ? "^" : "") + inner + (ends || permitsAnyQuery ? "$" : "");
        String path = "path =~ " + RuleTexts.literal(pattern);
        if (start) {
            return ends ? "(" + path + " && query == \"\")" : path;
        }
        String query = "query =~ " + RuleTexts.literal(flag + withoutAnyQuery + (permitsAnyQuery ? "(?:\\?.*)?$" : ""));
        return ends ? "((" + path + " && query == \"\") || " + query + ")" : "(" + path + " || " + query + ")";
    }

    /** Returns the condition for an expression whose alternatives contain anchors. */
    private static @Nullable String alternatives(Test test, String flag, String body) {
        List<String> parts = new ArrayList<>();
        for (String each : UrlExpressions.alternatives(body)) {
            String part = url(new Test(test.left(), "~", flag + each, true));
            if (part == null) {
                return null;
            }
            parts.add(part);
        }
        return "(" + String.join(" || ", parts) + ")";
    }

    /** Returns true if an expression has alternatives outside of groups. */
    private static boolean hasAlternatives(String expression) {
        int depth = 0;
        for (int i = 0; i < expression.length(); i++) {
            char c = expression.charAt(i);
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c == '|' && depth == 0) {
                return true;
            }
        }
        return false;
    }
}
