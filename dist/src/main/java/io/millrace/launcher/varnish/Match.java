package io.millrace.launcher.varnish;

import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.importing.draft.UrlExpressions;
import io.millrace.launcher.varnish.syntax.Condition;
import io.millrace.launcher.varnish.syntax.Condition.Test;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The tests of one alternative of a VCL condition, all of which must be true. They are grouped by the tested part of
 * the request or response. Confined to one thread.
 */
final class Match {
    private final List<Test> urls = new ArrayList<>();
    private final List<Test> hosts = new ArrayList<>();
    private final List<Test> methods = new ArrayList<>();
    private final List<Test> clients = new ArrayList<>();
    private final List<Test> cookies = new ArrayList<>();
    private final List<Test> statuses = new ArrayList<>();
    private final List<Test> others = new ArrayList<>();
    private boolean authorization;
    private boolean upgrade;
    /** True if the scheme of the client's request is tested. */
    private boolean scheme;
    /** True if Cache-Control is tested for a directive that forbids storing. */
    private boolean forbidden;
    /** True if a field of the response is tested. */
    private boolean responseField;
    /** True if a response property is tested that Millrace evaluates without a rule. */
    private boolean responseDefault;

    /** Groups the tests of an alternative, all of which must be true. */
    static Match of(List<Test> tests) {
        Match match = new Match();
        tests.forEach(match::add);
        return match;
    }

    private void add(Test test) {
        String left = test.left().toLowerCase(Locale.ROOT);
        forbidden |= left.equals("beresp.http.cache-control")
                && test.operator().equals("~")
                && test.right()
                        .matches("(\\(\\?i\\))?\\(?(private|no-cache|no-store)(\\|(private|no-cache|no-store))*\\)?");
        responseField |= left.startsWith("beresp.http.");
        switch (left) {
            case "req.url", "bereq.url" -> urls.add(test);
            case "req.http.host", "bereq.http.host" -> hosts.add(test);
            case "req.method", "req.request", "bereq.method" -> methods.add(test);
            case "client.ip", "std.ip(client.ip)", "remote.ip" -> clients.add(test);
            case "req.http.cookie", "bereq.http.cookie" -> cookies.add(test);
            case "beresp.status", "resp.status" -> statuses.add(test);
            case "req.http.authorization", "bereq.http.authorization" -> authorization = true;
            case "req.http.upgrade" -> upgrade = true;
            case "req.http.x-forwarded-proto", "req.http.https", "req.http.x-forwarded-port" -> {
                scheme = true;
                others.add(test);
            }
            case "beresp.ttl",
                    "beresp.http.set-cookie",
                    "beresp.http.cache-control",
                    "beresp.http.pragma",
                    "beresp.http.surrogate-control",
                    "beresp.http.vary",
                    "beresp.uncacheable",
                    "beresp.http.expires" -> responseDefault = true;
            default -> others.add(test);
        }
    }

    /**
     * Returns true if only URL, host, and the methods GET and HEAD are tested. An element of cache_rules can have such
     * conditions.
     */
    boolean isUrl() {
        boolean any = !urls.isEmpty() || !hosts.isEmpty();
        return any && testsNothingElse() && methods.stream().allMatch(Match::isGet);
    }

    private boolean testsNothingElse() {
        return clients.isEmpty()
                && cookies.isEmpty()
                && statuses.isEmpty()
                && others.isEmpty()
                && !authorization
                && !upgrade
                && !scheme
                && !responseDefault;
    }

    private static boolean isGet(Test test) {
        return (test.operator().equals("==") && test.right().matches("GET|HEAD"))
                || (test.operator().equals("~") && test.right().contains("GET"));
    }

    /** Returns true if only hosts are tested. */
    boolean isHost() {
        return !hosts.isEmpty() && urls.isEmpty() && methods.isEmpty() && testsNothingElse();
    }

    /** Returns true if only methods are tested. */
    boolean isMethod() {
        return !methods.isEmpty() && urls.isEmpty() && hosts.isEmpty() && testsNothingElse();
    }

    /** Returns true if Cookie is tested, and neither status, client address nor unknown parts. */
    boolean isCookie() {
        return !cookies.isEmpty() && others.isEmpty() && statuses.isEmpty() && clients.isEmpty();
    }

    /** Returns true if Authorization is tested, and neither Cookie, URL, host nor unknown parts. */
    boolean isAuthorization() {
        return authorization && cookies.isEmpty() && others.isEmpty() && urls.isEmpty() && hosts.isEmpty();
    }

    /** Returns true if the field Upgrade is tested. */
    boolean isUpgrade() {
        return upgrade;
    }

    /** Returns true if a response property is tested that Millrace evaluates without a rule. */
    boolean isResponseDefault() {
        return responseDefault;
    }

    /** Returns true if the status is tested, and neither Cookie, URL, host nor unknown parts. */
    boolean isStatus() {
        return !statuses.isEmpty() && others.isEmpty() && urls.isEmpty() && cookies.isEmpty() && hosts.isEmpty();
    }

    /**
     * Returns true if Cache-Control is tested for a directive that forbids storing. Rules set no lifetime for such
     * responses.
     */
    boolean isForbidden() {
        return forbidden;
    }

    /** Returns true if the status or a field of the response is tested. */
    boolean testsResponse() {
        return responseField || !statuses.isEmpty();
    }

    /** Returns true if the status is tested. */
    boolean testsStatus() {
        return !statuses.isEmpty();
    }

    /** Returns true if only requests with methods other than GET and HEAD meet the tests. */
    boolean isUnsafe() {
        for (Test test : methods) {
            boolean equal = test.operator().equals("==") && !test.right().matches("GET|HEAD");
            boolean not = test.operator().startsWith("!") && test.right().contains("GET");
            boolean found = test.operator().equals("~") && !test.right().contains("GET");
            if (equal || not || found) {
                return true;
            }
        }
        return false;
    }

    /** Returns the only method that meets the tests; null if there is no such method. */
    @Nullable
    String method() {
        for (Test test : methods) {
            if (test.operator().equals("==")) {
                return test.right();
            }
        }
        return null;
    }

    List<Test> clients() {
        return clients;
    }

    List<Test> cookies() {
        return cookies;
    }

    List<Test> urls() {
        return urls;
    }

    List<Test> hosts() {
        return hosts;
    }

    List<Test> methods() {
        return methods;
    }

    /** Returns the first test without an equivalent as text; empty if there is none. */
    String unknown() {
        return others.isEmpty() ? "" : others.get(0).toString();
    }

    /** Returns the usual status codes that meet the tests, and all codes from 200 to 599 that a test names. */
    List<String> codes() {
        List<String> codes = new ArrayList<>();
        for (int code : new int[] {
            204, 300, 302, 303, 305, 307, 400, 401, 403, 404, 405, 406, 410, 414, 416, 429, 500, 501, 502, 503, 504
        }) {
            int status = code;
            if (statuses.stream().allMatch(test -> holds(test, status))) {
                codes.add(Integer.toString(code));
            }
        }
        for (Test test : statuses) {
            if (test.operator().equals("==") && test.right().matches("[2-5]\\d\\d") && !codes.contains(test.right())) {
                codes.add(test.right());
            }
        }
        return codes;
    }

    private static boolean holds(Test test, int status) {
        if (!test.right().matches("\\d{1,4}")) {
            return false;
        }
        int limit = Integer.parseInt(test.right());
        return switch (test.operator()) {
            case "==" -> status == limit;
            case "!=" -> status != limit;
            case "<" -> status < limit;
            case "<=" -> status <= limit;
            case ">" -> status > limit;
            case ">=" -> status >= limit;
            default -> false;
        };
    }

    /** Converts a test of the path to an expression for the whole URL. Returns null if there is no equivalent. */
    static @Nullable String urlRegex(Test test) {
        String text = test.right();
        return switch (test.operator()) {
            case "~" -> RuleTexts.isRe2(text) ? UrlExpressions.ofTarget(text) : null;
            case "==" -> UrlExpressions.ofTarget("^" + RuleTexts.quoted(text) + "$");
            default -> null;
        };
    }

    /** Returns the {@linkplain Condition#alternatives alternatives} of conditions that must all be true. */
    static List<Match> all(List<Condition> around) {
        if (around.isEmpty()) {
            return List.of(new Match());
        }
        return Condition.alternatives(new Condition.All(around)).stream()
                .map(Match::of)
                .toList();
    }
}
