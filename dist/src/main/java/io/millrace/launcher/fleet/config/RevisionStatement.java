package io.millrace.launcher.fleet.config;

import io.millrace.launcher.fleet.config.RefusedRevisionException.Reason;
import io.millrace.proxy.config.fleet.FleetConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The signed description of a revision of the fleet's configuration. Its text consists of one line for each component,
 * in a fixed order. Therefore each revision has exactly one text. Immutable.
 *
 * <pre>
 * millrace fleet config 1
 * fleet cdn
 * revision 12
 * content 64 hexadecimal digits, or none
 * restores 0
 * canary n1,n2 or none
 * seconds 300
 * guard hit_ratio&gt;80,errors&lt;1 or none
 * at 2026-11-28T10:00:00Z
 * by name of the operator
 * </pre>
 *
 * @param fleet name of the fleet
 * @param revision number, from 1; later revisions have higher numbers
 * @param content SHA-256 of the YAML text; {@link #NONE} for no configuration, so that only local files apply
 * @param restores number of the earlier revision with this content, for a rollback; 0 otherwise
 * @param canary nodes that apply the revision first; empty for all nodes at once
 * @param seconds time for which the canary nodes are observed
 * @param guards conditions on the figures of each canary node
 * @param at time of the signature, for display
 * @param by name of the operator, for display
 */
public record RevisionStatement(
        String fleet,
        long revision,
        String content,
        long restores,
        List<String> canary,
        long seconds,
        List<Guard> guards,
        String at,
        String by) {
    /** The content of a revision without a configuration. */
    public static final String NONE = "none";

    /** Limit of a statement, in characters. */
    static final int LENGTH_MAX = 32 << 10;

    /** Maximum number of canary nodes. */
    static final int CANARY_MAX = 100;

    /** Limit of the observation of canary nodes, in seconds. */
    static final long SECONDS_MAX = 24 * 3600;

    private static final String FIRST_LINE = "millrace fleet config 1";
    private static final List<String> NAMES =
            List.of("fleet", "revision", "content", "restores", "canary", "seconds", "guard", "at", "by");
    /** Limit of revision numbers that no signature protects. Signed numbers may be almost ten times higher. */
    private static final long NUMBER_MAX = 100_000_000_000_000_000L;

    private static final Pattern HASH = Pattern.compile("[0-9a-f]{64}");
    private static final Pattern NUMBER = Pattern.compile("0|[1-9][0-9]{0,17}");
    private static final Pattern PRINTABLE = Pattern.compile("[\\x20-\\x7e]{1,128}");

    /** Copies the lists. */
    public RevisionStatement {
        canary = List.copyOf(canary);
        guards = List.copyOf(guards);
    }

    /** Returns true if an unsigned number is a possible revision number: from 0 (none) to 10^17. */
    public static boolean isNumber(long revision) {
        return revision >= 0 && revision <= NUMBER_MAX;
    }

    /** Returns true if the revision has a configuration. */
    public boolean hasContent() {
        return !content.equals(NONE);
    }

    /** Returns the text that is signed. */
    public String text() {
        return String.join(
                "\n",
                FIRST_LINE,
                "fleet " + fleet,
                "revision " + revision,
                "content " + content,
                "restores " + restores,
                "canary " + orNone(canary),
                "seconds " + seconds,
                "guard " + orNone(guards.stream().map(Guard::text).toList()),
                "at " + at,
                "by " + by,
                "");
    }

    private static String orNone(List<String> words) {
        return words.isEmpty() ? NONE : String.join(",", words);
    }

    /** Reads a text. */
    public static RevisionStatement parse(String text) throws RefusedRevisionException {
        if (text.length() > LENGTH_MAX) {
            throw malformed("its length is " + text.length() + ", the limit is " + LENGTH_MAX);
        }
        String[] lines = text.split("\n", -1);
        if (lines.length != NAMES.size() + 2 || !lines[0].equals(FIRST_LINE)) {
            throw malformed("it does not begin with '" + FIRST_LINE + "', or has another number of lines");
        }
        List<String> values = new ArrayList<>();
        for (int i = 0; i < NAMES.size(); i++) {
            String prefix = NAMES.get(i) + " ";
            if (!lines[i + 1].startsWith(prefix)) {
                throw malformed("line " + (i + 2) + " does not begin with '" + prefix + "'");
            }
            values.add(lines[i + 1].substring(prefix.length()));
        }
        RevisionStatement read = new RevisionStatement(
                values.get(0),
                number("revision", values.get(1)),
                values.get(2),
                number("restores", values.get(3)),
                words(values.get(4)),
                number("seconds", values.get(5)),
                guards(values.get(6)),
                values.get(7),
                values.get(8));
        read.check();
        if (!read.text().equals(text)) {
            throw malformed("it differs from the text that Millrace writes for the same values");
        }
        return read;
    }

    private void check() throws RefusedRevisionException {
        if (revision < 1 || restores >= revision) {
            throw malformed("the revision must be at least 1 and higher than the one that it restores: revision="
                    + revision + ", restores=" + restores);
        }
        if (hasContent() && !HASH.matcher(content).matches()) {
            throw malformed("the content is no SHA-256 hash");
        }
        if (canary.size() > CANARY_MAX || !canary.stream().allMatch(FleetConfig::isName)) {
            throw malformed("the canary nodes are not 0 to " + CANARY_MAX + " names");
        }
        if (seconds > SECONDS_MAX || (!guards.isEmpty() && canary.isEmpty())) {
            throw malformed("the time exceeds " + SECONDS_MAX + " s, or guards have no canary nodes");
        }
        if (!PRINTABLE.matcher(at).matches() || !PRINTABLE.matcher(by).matches() || !FleetConfig.isName(fleet)) {
            throw malformed("a name or time has characters that are not permitted");
        }
    }

    private static long number(String name, String text) throws RefusedRevisionException {
        if (!NUMBER.matcher(text).matches()) {
            throw malformed(name + " is not a number");
        }
        return Long.parseLong(text);
    }

    private static List<String> words(String text) {
        return text.equals(NONE) ? List.of() : List.of(text.split(",", -1));
    }

    private static List<Guard> guards(String text) throws RefusedRevisionException {
        List<Guard> guards = new ArrayList<>();
        for (String word : words(text)) {
            guards.add(Guard.parse(word));
        }
        return guards;
    }

    private static RefusedRevisionException malformed(String why) {
        return new RefusedRevisionException(Reason.MALFORMED, "the statement of the revision is malformed: " + why);
    }
}
