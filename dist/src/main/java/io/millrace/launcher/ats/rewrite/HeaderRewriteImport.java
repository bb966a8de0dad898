package io.millrace.launcher.ats.rewrite;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The importer of configuration files of Traffic Server's plugin {@code header_rewrite}. Each operator becomes one
 * element of {@code rules}. Confined to one thread.
 */
public final class HeaderRewriteImport {
    private static final String NO_VARIABLES =
            "values of rules are constant; only set-redirect can use parts of the client's URL";

    private final ImportState state;
    /**
     * The rules of each file that was read, by default hook and file name. Several remap rules may use the same file.
     */
    private final Map<String, List<RewriteRule>> rulesByFile = new HashMap<>();

    /** Creates an import from {@code state}. */
    public HeaderRewriteImport(ImportState state) {
        this.state = state;
    }

    /**
     * Writes the rules of a file into the list {@code rules} of a section.
     *
     * @param into the root, or a remap rule
     * @param source the line that names the file
     * @param isGlobal whether the plugin is in plugin.config
     */
    public void write(DraftNode into, String name, Entry source, boolean isGlobal) {
        SourceFile file = state.read(state.relative(name));
        if (file == null) {
            // The directory may be a copy. An absolute name then refers to the original directory.
            file = state.read(String.valueOf(Path.of(name).getFileName()));
        }
        if (file == null) {
            source.notMapped("header_rewrite.so: the file " + name
                    + " does not exist; if the plugin refuses requests, write filters");
            return;
        }
        RewriteHook defaultHook = isGlobal ? RewriteHook.READ_RESPONSE_HDR_HOOK : RewriteHook.REMAP_PSEUDO_HOOK;
        SourceFile found = file;
        List<RewriteRule> rules = rulesByFile.computeIfAbsent(
                defaultHook + " " + found.name(), key -> RewriteFile.read(found, defaultHook));
        source.note("header_rewrite.so: the rules of " + name + " were imported, see its lines");
        Set<Entry> useless = new LinkedHashSet<>();
        Set<Entry> used = new LinkedHashSet<>();
        rules.forEach(rule -> (write(into, rule) ? used : useless).addAll(rule.conditions()));
        useless.removeAll(used);
        useless.forEach(condition -> condition.notMapped("none of its operators has an equivalent"));
    }

    /** Writes a rule. Returns false if it has no equivalent; a note on its line gives the reason. */
    private static boolean write(DraftNode into, RewriteRule rule) {
        if (rule.problem() != null) {
            rule.entry().notMapped("its condition has no equivalent: " + rule.problem());
            return false;
        }
        Action action = action(rule);
        if (action == null) {
            return false;
        }
        DraftNode node = into.addElement("rules").from(rule.entry()).removableIfInvalid();
        rule.conditions().forEach(node::from);
        if (rule.when() != null) {
            node.put("when", rule.when());
        }
        action.write(node);
        return true;
    }

    /** Writes the keys of an action into a rule. */
    private interface Action {
        void write(DraftNode node);
    }

    private static @Nullable Action action(RewriteRule rule) {
        String operator = rule.words().at(0).toLowerCase(Locale.ROOT);
        List<String> words = new ArrayList<>(
                rule.words().words().subList(1, rule.words().words().size()));
        // The flag QSA appends the query of the request to the target.
        boolean qsa = words.removeIf(word -> word.matches("(?i)\\[([A-Z]+,)*QSA(,[A-Z]+)*]"));
        boolean hasLastFlag = words.removeIf(word -> word.matches("(?i)\\[(L|LAST)]"));
        if (hasLastFlag && !operator.equals("set-redirect")) {
            rule.entry().notMapped("the flag L has no equivalent: the rules after it apply too");
        }
        String first = words.isEmpty() ? "" : words.get(0);
        String value = words.size() < 2 ? "" : String.join(" ", words.subList(1, words.size()));
        return switch (operator) {
            case "set-header", "add-header", "rm-header" -> changeField(rule, operator, first, value);
            case "set-redirect" -> redirect(rule, first, value, qsa);
            case "set-status" -> status(rule, first);
            case "no-op", "counter" -> {
                rule.entry().note(operator + " changes nothing; millctl metric shows counters");
                yield null;
            }
            default -> {
                rule.entry().notMapped("the operator " + operator + " has no equivalent");
                yield null;
            }
        };
    }

    private static @Nullable Action changeField(RewriteRule rule, String operator, String name, String value) {
        String keyEnding = rule.hook().keyEnding();
        if (keyEnding == null) {
            rule.entry().notMapped("rules do not act at the hook " + rule.hook());
            return null;
        }
        if (!name.matches("[A-Za-z0-9][A-Za-z0-9_-]*")) {
            rule.entry()
                    .notMapped(
                            name.startsWith("@")
                                    ? "fields of Traffic Server that begin with @ have no equivalent"
                                    : "the field name " + name + " cannot be imported; write it by hand");
            return null;
        }
        if (operator.equals("rm-header")) {
            return node -> node.putWords("remove_" + keyEnding, List.of(name));
        }
        if (value.contains("%{") || value.contains("%<")) {
            rule.entry().notMapped(NO_VARIABLES);
            return null;
        }
        String key = (operator.equals("set-header") ? "set_" : "add_") + keyEnding;
        return node -> node.put(key + "." + name, value);
    }

    private static @Nullable Action redirect(RewriteRule rule, String status, String to, boolean qsa) {
        if (!rule.hook().isOnRequest()) {
            rule.entry().notMapped("rules redirect only before the lookup, not at " + rule.hook());
            return null;
        }
        if (to.contains("%{CLIENT-URL}") || to.contains("%{REQUEST_METHOD}") || to.matches(".*%[0-9].*")) {
            rule.entry().notMapped(NO_VARIABLES);
            return null;
        }
        String target = to.replace("$", "$$")
                .replace("/%{CLIENT-URL:PATH}", "$path")
                .replace("?%{CLIENT-URL:QUERY}", "$query")
                .replace("%{CLIENT-URL:HOST}", "$host");
        if (target.contains("%{")) {
            rule.entry().notMapped(NO_VARIABLES);
            return null;
        }
        String whole = qsa && !target.contains("?") && !target.endsWith("$query") ? target + "$query" : target;
        return node -> {
            node.put("redirect.to", whole);
            node.put("redirect.status", status);
        };
    }

    private static @Nullable Action status(RewriteRule rule, String status) {
        if (rule.hook() != RewriteHook.REMAP_PSEUDO_HOOK) {
            rule.entry().notMapped("the status of a response cannot be changed; a rule can answer at the remap hook");
            return null;
        }
        return node -> node.put("answer.status", status);
    }
}
