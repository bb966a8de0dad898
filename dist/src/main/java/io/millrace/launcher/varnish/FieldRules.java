package io.millrace.launcher.varnish;

import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.varnish.syntax.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The translator of statements that change header fields to {@code rules}. Confined to one thread. */
final class FieldRules {
    /** Fields of responses that decide about lifetimes, which Varnish computes before vcl_backend_response. */
    private static final List<String> LIFETIME = List.of("cache-control", "expires", "pragma", "surrogate-control");

    private static final Pattern STRING =
            Pattern.compile("\\s*(?:\\+\\s*)?(?:\"([^\"]*)\"|\\{\"(.*?)\"})", Pattern.DOTALL);

    private final VclImportState state;
    /** Fields that earlier statements changed, in lower case. */
    private final Set<String> changed = new HashSet<>();

    private final RuleCondition conditions;

    FieldRules(VclImportState state) {
        this.state = state;
        conditions = new RuleCondition(state, changed);
    }

    /** The translator of conditions, which knows the fields that earlier statements changed. */
    RuleCondition conditions() {
        return conditions;
    }

    /** Records that a statement changes a variable, which the conditions of later statements may read. */
    void recordChange(Statement each) {
        if (each.kind().equals("set") || each.kind().equals("unset")) {
            changed.add(each.target()
                    .toLowerCase(Locale.ROOT)
                    .replace("bereq.http.", "req.http.")
                    .replace("beresp.http.", "resp.http."));
        }
    }

    /** Returns the text of a constant string. Returns null if the source has variables or functions. */
    static @Nullable String constant(String source) {
        String text = source.strip();
        if (text.matches("\\d+")) {
            return text;
        }
        Matcher part = STRING.matcher(text);
        StringBuilder out = new StringBuilder();
        int at = 0;
        while (at < text.length() && part.find(at) && part.start() == at) {
            out.append(part.group(1) == null ? part.group(2) : part.group(1));
            at = part.end();
        }
        return at == text.length() && at > 0 ? out.toString() : null;
    }

    /** Translates a statement that sets or removes a field. Reports a statement without an equivalent as not mapped. */
    void write(Statement each, Walker.PathConditions pathConditions) {
        String problem = translate(each, pathConditions);
        if (problem != null) {
            each.notMapped(problem);
        }
        recordChange(each);
    }

    /** Translates a statement that has an equivalent. Returns false for any other statement. */
    boolean writeIfPossible(Statement each, Walker.PathConditions pathConditions) {
        boolean isWritten = translate(each, pathConditions) == null;
        recordChange(each);
        return isWritten;
    }

    /** Translates a statement. Returns the reason if it has no equivalent; null if it was written. */
    private @Nullable String translate(Statement each, Walker.PathConditions pathConditions) {
        String target = each.target().toLowerCase(Locale.ROOT);
        String name = each.target().replaceAll(".*\\.http\\.", "");
        if (!target.matches("(req|bereq|beresp|resp)\\.http\\..+") || !RuleTexts.isFieldName(name)) {
            return "rules change fields of requests to origins and of responses only";
        }
        boolean removes = each.kind().equals("unset");
        if (each.operator().equals("+=")) {
            return "rules replace the value of a field; write a rule with the whole value";
        }
        String value = removes ? "" : constant(each.value());
        if (value == null) {
            return RuleTexts.CONSTANT;
        }
        boolean isLifetimeField = target.startsWith("beresp.") && LIFETIME.contains(name.toLowerCase(Locale.ROOT));
        String fields = target.startsWith("req.") || target.startsWith("bereq.")
                ? "request_header"
                : target.startsWith("beresp.") && !isLifetimeField ? "stored_header" : "response_header";
        RuleCondition.When when = conditions.of(pathConditions, !fields.equals("response_header"));
        if (when == null) {
            return conditions.noEquivalent();
        }
        DraftNode rule = rule(each, when);
        if (removes || value.isEmpty()) {
            rule.putWords("remove_" + fields, List.of(name));
        } else {
            rule.put("set_" + fields + "." + name, value);
        }
        if (isLifetimeField) {
            each.note("the rule changes responses to clients, so that the lifetime here stays as in Varnish");
        }
        if (!removes && value.isEmpty()) {
            each.note("the rule removes the field; Varnish sends it without a value");
        }
        return null;
    }

    /** Adds a rule with the condition of a statement. */
    DraftNode rule(Statement each, RuleCondition.When when) {
        DraftNode rule = state.workspace()
                .draft()
                .root()
                .addElement("rules")
                .removableIfInvalid()
                .from(each.markHandled());
        if (!when.text().isEmpty()) {
            rule.put("when", when.text());
        }
        if (when.partial()) {
            each.notMapped(RuleCondition.ALSO_BEFORE_RETURN);
        }
        return rule;
    }
}
