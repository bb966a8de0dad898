package io.millrace.proxy.config.edge;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.http.FieldLexer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The canary split of one remap rule, which sends some clients to other origins (branches). Immutable.
 *
 * @param branches the branches, in order
 * @param cookie name of the cookie that decides about the branch by weight; null for the client's address
 */
public record SplitConfig(List<Branch> branches, @Nullable String cookie) {
    /** The value of {@code split_by} for the client's address. */
    static final String BY_CLIENT = "client";

    /** Name of the rule's own origin in metrics. */
    public static final String OWN = "own";

    /** The weight of all clients: weights have steps of 0.01 percent. */
    public static final int WHOLE = 10_000;

    private static final int BRANCHES_MAX = 16;
    private static final int NAME_LENGTH_MAX = 64;
    private static final int STEPS_OF_PERCENT = WHOLE / 100;

    /**
     * A branch.
     *
     * @param name the name in metrics and cache keys
     * @param to the origin; null if the branch has a group
     * @param origins name of the origin group; null if the branch has one origin
     * @param weight share of the clients that get this branch, in units of 0.01 percent
     * @param cookie name of the cookie with which a client gets this branch; null for none
     * @param cookieValue value of this cookie; null for any
     * @param isSeparate whether the branch has stored responses of its own
     */
    public record Branch(
            String name,
            @Nullable RuleUrl to,
            @Nullable String origins,
            int weight,
            @Nullable String cookie,
            @Nullable String cookieValue,
            boolean isSeparate) {}

    /** Receives the faults of a split. */
    interface Faults {
        /**
         * Reports a fault.
         *
         * @param key path of the key within the rule, such as {@code split[0].weight}
         */
        void report(String key, String message);
    }

    /**
     * Reads the split of a rule that was checked.
     *
     * @return null if the rule has none
     */
    public static @Nullable SplitConfig from(ConfigValues rule) {
        return rule.elements(SplitKeys.SPLIT).isEmpty()
                ? null
                : read(rule, (key, message) -> {
                    throw new IllegalArgumentException(key + ": " + message);
                });
    }

    /** Reports every fault of the split of a rule. */
    static void check(ConfigValues rule, Faults faults) {
        read(rule, faults);
    }

    private static SplitConfig read(ConfigValues rule, Faults faults) {
        List<ConfigValues> elements = rule.elements(SplitKeys.SPLIT);
        List<Branch> branches = new ArrayList<>();
        Set<String> names = new HashSet<>();
        int sum = 0;
        for (int i = 0; i < elements.size(); i++) {
            String path = "split[" + i + "]";
            Branch branch = branch(elements.get(i), path, faults);
            if (!names.add(branch.name())) {
                faults.report(path + ".name", "'" + branch.name() + "' is the name of another branch; set name");
            }
            sum += branch.weight();
            if (sum > WHOLE) {
                faults.report(path + ".weight", "the weights of the branches up to this one add up to more than 100");
                sum = 0;
            }
            if (i == BRANCHES_MAX) {
                faults.report(path, "is beyond the limit of " + BRANCHES_MAX + " branches");
            }
            branches.add(branch);
        }
        String splitBy = rule.get(SplitKeys.SPLIT_BY);
        String cookie = splitBy.equals(BY_CLIENT) ? null : cookieOf(splitBy);
        if (cookie == null && !splitBy.equals(BY_CLIENT)) {
            faults.report("split_by", "'" + splitBy + "' is neither client nor cookie[\"NAME\"]");
        } else if (cookie != null && elements.isEmpty()) {
            faults.report("split_by", "has no effect without split");
        }
        return new SplitConfig(List.copyOf(branches), cookie);
    }

    private static Branch branch(ConfigValues element, String path, Faults faults) {
        RuleUrl to = element.find(SplitKeys.TO);
        String origins = element.find(SplitKeys.ORIGINS);
        if ((to == null) == (origins == null)) {
            faults.report(path, to == null ? "needs to or origins" : "has both to and origins; remove one of them");
        }
        int weight = (int) Math.round(element.get(SplitKeys.WEIGHT) * STEPS_OF_PERCENT);
        String cookie = element.find(SplitKeys.COOKIE);
        if (weight == 0 && cookie == null) {
            faults.report(path, "is never chosen; set weight or cookie");
        }
        String given = element.find(SplitKeys.NAME);
        String name = given != null ? given : origins != null ? origins : to == null ? path : String.valueOf(to.host());
        boolean isName = !name.isEmpty()
                && name.length() <= NAME_LENGTH_MAX
                && name.chars().allMatch(c -> c > ' ' && c <= '~' && c != '"' && c != '\\');
        if (!isName || name.equals(OWN)) {
            faults.report(
                    path + ".name",
                    isName
                            ? "'" + OWN + "' is the name of the rule's own origin"
                            : "'" + name + "' is not a name of 1 to " + NAME_LENGTH_MAX + " visible ASCII characters");
        }
        int equals = cookie == null ? -1 : cookie.indexOf('=');
        String cookieName = cookie == null || equals < 0 ? cookie : cookie.substring(0, equals);
        if (cookieName != null && !isToken(cookieName)) {
            faults.report(path + ".cookie", "'" + cookie + "' is neither NAME=VALUE nor NAME");
        }
        return new Branch(
                name,
                to,
                origins,
                weight,
                cookieName,
                cookie == null || equals < 0 ? null : cookie.substring(equals + 1),
                element.get(SplitKeys.SEPARATE_CACHE));
    }

    private static @Nullable String cookieOf(String splitBy) {
        String begin = "cookie[\"";
        String end = "\"]";
        if (!splitBy.startsWith(begin) || !splitBy.endsWith(end) || splitBy.length() <= begin.length() + end.length()) {
            return null;
        }
        String name = splitBy.substring(begin.length(), splitBy.length() - end.length());
        return isToken(name) ? name : null;
    }

    private static boolean isToken(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        return FieldLexer.isToken(bytes, 0, bytes.length);
    }
}
