package io.millrace.launcher.varnish;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.varnish.syntax.Condition;
import io.millrace.launcher.varnish.syntax.Condition.Test;
import io.millrace.launcher.varnish.syntax.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The translator of {@code return (synth(…))} and {@code return (pass)} to {@code rules} that redirect, answer or
 * bypass the cache. Confined to one thread.
 */
final class SynthRules {
    /** Statements of a branch of vcl_synth that make a redirection. */
    private record Branch(List<Statement> body, @Nullable Statement location, String status) {}

    private static final String NO_LOCATION = "vcl_synth sets no Location for this status; write a rule with redirect";

    private final VclImportState state;
    /**
     * Translated places. A statement is visited once for each alternative of its condition, but its rule is written
     * once.
     */
    private final Set<Place> translated = new HashSet<>();

    /** A statement with its conditions. A subroutine that is called twice has each statement in two places. */
    private record Place(Statement statement, Walker.PathConditions pathConditions) {}

    SynthRules(VclImportState state) {
        this.state = state;
    }

    /** Writes a redirection whose target vcl_synth sets. */
    void redirect(Statement each, Walker.PathConditions pathConditions, String code) {
        if (!translated.add(new Place(each, pathConditions))) {
            return;
        }
        Branch branch = branch(state.vcl().sub("vcl_synth"), code);
        Statement location = branch == null ? null : branch.location;
        if (branch == null || location == null) {
            each.notMapped(NO_LOCATION);
            return;
        }
        int comma = each.value().indexOf(',');
        String reason = comma < 0 ? "" : each.value().substring(comma + 1).strip();
        String to = target(location.value().equalsIgnoreCase("resp.reason") ? reason : location.value());
        String status = branch.status.isEmpty() ? code : branch.status;
        if (to == null || !List.of("301", "302", "307", "308").contains(status)) {
            each.notMapped("write a rule with redirect: the target has variables or functions without an equivalent");
            return;
        }
        DraftNode rule = rule(each, pathConditions);
        if (rule != null) {
            rule.put("redirect.to", to);
            rule.put("redirect.status", status);
            branch.body.forEach(one -> one.markHandled().recordKey("rules"));
        }
    }

    /**
     * Writes a rule that answers requests without an origin. Returns false if the status or the condition has no
     * equivalent.
     */
    boolean answer(Statement each, Walker.PathConditions pathConditions, String status) {
        if (!translated.add(new Place(each, pathConditions))) {
            return true;
        }
        if (!status.matches("[245]\\d\\d")) {
            each.notMapped("rules answer with a constant status from 200 to 599");
            return false;
        }
        DraftNode rule = rule(each, pathConditions);
        if (rule == null) {
            return false;
        }
        rule.put("answer.status", status);
        each.note("the content is one line with the status; answer.body sets another");
        return true;
    }

    /** Lets the requests of a statement bypass the cache. Returns false if the condition has no equivalent. */
    boolean bypass(Statement each, Walker.PathConditions pathConditions) {
        Place place = new Place(each, pathConditions);
        if (translated.contains(place)) {
            return true;
        }
        RuleCondition.When when = state.fields().conditions().of(pathConditions, false);
        if (when == null || when.text().isEmpty()) {
            return false;
        }
        translated.add(place);
        DraftNode rule = state.workspace()
                .draft()
                .root()
                .addElement("rules")
                .removableIfInvalid()
                .from(each.markHandled());
        rule.put("when", when.text());
        if (when.partial()) {
            each.note("requests for which an earlier return ends the subroutine bypass the cache too");
        }
        rule.put("bypass", "true");
        return true;
    }

    private @Nullable DraftNode rule(Statement each, Walker.PathConditions pathConditions) {
        RuleCondition.When when = state.fields().conditions().of(pathConditions, false);
        if (when == null) {
            each.notMapped(state.fields().conditions().noEquivalent());
            return null;
        }
        return state.fields().rule(each, when);
    }

    /** Returns the statements of vcl_synth for a status. Returns null if there are none. */
    private static @Nullable Branch branch(List<Statement> statements, String code) {
        for (Statement each : statements) {
            if (each.condition() != null && isStatus(each.condition(), code)) {
                Statement location = null;
                String status = "";
                for (Statement one : each.body()) {
                    String target = one.target().toLowerCase(Locale.ROOT);
                    location = one.kind().equals("set") && target.equals("resp.http.location") ? one : location;
                    status = one.kind().equals("set") && target.equals("resp.status") ? one.value() : status;
                }
                return new Branch(each.body(), location, status);
            }
        }
        return null;
    }

    private static boolean isStatus(Condition condition, String code) {
        if (condition instanceof Condition.Any any) {
            return any.parts().stream().anyMatch(each -> isStatus(each, code));
        }
        return condition instanceof Test test
                && test.left().equalsIgnoreCase("resp.status")
                && test.operator().equals("==")
                && test.right().equals(code);
    }

    /** Converts the target of a redirection. Returns null if a part has no placeholder. */
    static @Nullable String target(String source) {
        StringBuilder to = new StringBuilder();
        for (String part : parts(source)) {
            String text = part.startsWith("\"") ? FieldRules.constant(part) : null;
            if (text != null) {
                to.append(text.replace("$", "$$"));
            } else if (part.equalsIgnoreCase("req.http.host")) {
                to.append("$host");
            } else if (part.equalsIgnoreCase("req.url")) {
                to.append("$path$query");
            } else {
                return null;
            }
        }
        String target = to.toString();
        return target.matches("(?i)https?://.+|/([^/].*)?|\\$path.*") ? target : null;
    }

    /** Splits a concatenation. A plus sign between its parts is optional. */
    private static List<String> parts(String source) {
        List<String> parts = new ArrayList<>();
        Matcher part = Pattern.compile("\\G\\s*\\+?\\s*(\"[^\"]*\"|[^\\s\"+]+)").matcher(source);
        int end = 0;
        while (part.find()) {
            parts.add(part.group(1));
            end = part.end();
        }
        return source.substring(end).isBlank() ? parts : List.of("?");
    }
}
