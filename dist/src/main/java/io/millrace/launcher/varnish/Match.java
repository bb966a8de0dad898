package io.millrace.launcher.varnish;

import io.millrace.launcher.varnish.syntax.Condition;
import io.millrace.launcher.varnish.syntax.Condition.Test;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** One alternative of a condition, sorted by the parts of a request or response. Confined to one thread. */
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
    private boolean plain;
    private boolean responseDefault;

    /** Sorts the tests of an alternative. */
    static Match of(List<Test> tests) {
        Match match = new Match();
        tests.forEach(match::add);
        return match;
    }

    private void add(Test test) {
        String left = test.left().toLowerCase(Locale.ROOT);
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
                plain = true;
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

    /** Returns true if the tests are about URL and host only, which cache_rules can express. */
    boolean isUrl() {
        boolean any = !urls.isEmpty() || !hosts.isEmpty();
        return any && rest() && methods.stream().allMatch(Match::isGet);
    }

    private boolean rest() {
        return clients.isEmpty()
                && cookies.isEmpty()
                && statuses.isEmpty()
                && others.isEmpty()
                && !authorization
                && !upgrade
                && !plain
                && !responseDefault;
    }

    private static boolean isGet(Test test) {
        return (test.operator().equals("==") && test.right().matches("GET|HEAD"))
                || (test.operator().equals("~") && test.right().contains("GET"));
    }

    /** Returns true if only hosts are tested. */
    boolean isHost() {
        return !hosts.isEmpty() && urls.isEmpty() && methods.isEmpty() && rest();
    }

    /** Returns true if only methods are tested. */
    boolean isMethod() {
        return !methods.isEmpty() && urls.isEmpty() && hosts.isEmpty() && rest();
    }

    /** Returns true if a test is about Cookie, and no other part. */
    boolean isCookie() {
        return !cookies.isEmpty() && others.isEmpty() && statuses.isEmpty() && clients.isEmpty();
    }

    /** Returns true if only Authorization is tested. */
    boolean isAuthorization() {
        return authorization && cookies.isEmpty() && others.isEmpty() && urls.isEmpty() && hosts.isEmpty();
    }

    /** Returns true if the request offers another protocol. */
    boolean isUpgrade() {
        return upgrade;
    }

    /** Returns true if a part of the response is tested by which Millrace decides itself. */
    boolean isResponseDefault() {
        return responseDefault;
    }

    /** Returns true if only the status is tested. */
    boolean isStatus() {
        return !statuses.isEmpty() && others.isEmpty() && urls.isEmpty() && cookies.isEmpty() && hosts.isEmpty();
    }

    /** Returns true if methods other than GET and HEAD are required. */
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

    /** Returns the method that is required; null for none. */
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

    List<Test> urls() {
        return urls;
    }

    List<Test> hosts() {
        return hosts;
    }

    List<Test> methods() {
        return methods;
    }

    /** Returns the tests without an equivalent, as text. */
    String unknown() {
        return others.isEmpty() ? "" : others.get(0).toString();
    }

    /** Returns the status codes that are tested, from 200 to 599. */
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

    /** Returns an expression for the URL of the cache key; null if the tests of the URL cannot be expressed. */
    static @Nullable String urlRegex(Test test) {
        String text = test.right();
        String flag = text.startsWith("(?i)") ? "(?i)" : "";
        String body = text.substring(flag.length());
        String before = "^[a-z]+://[^/]+";
        return switch (test.operator()) {
            case "~" ->
                body.startsWith("^") && !body.contains("|")
                        ? flag + before + body.substring(1)
                        : body.startsWith("^(") || body.startsWith("^/")
                                ? flag + before + "(?:" + body.substring(1) + ")"
                                : flag + before + ".*(?:" + body + ")";
            case "==" -> before + body.replaceAll("([.?+*()\\[\\]|^$\\\\])", "\\\\$1") + "$";
            default -> null;
        };
    }

    /** Returns the alternatives of a condition, with the conditions around it. */
    static List<Match> all(List<Condition> around) {
        if (around.isEmpty()) {
            return List.of(new Match());
        }
        return Condition.alternatives(new Condition.All(around)).stream()
                .map(Match::of)
                .toList();
    }
}
