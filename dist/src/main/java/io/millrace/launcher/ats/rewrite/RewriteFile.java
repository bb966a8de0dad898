package io.millrace.launcher.ats.rewrite;

import io.millrace.launcher.ats.rewrite.RewriteCondition.UnknownConditionException;
import io.millrace.launcher.ats.source.Words;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A reader of a {@code header_rewrite} file with its conditions, operators, groups and branches. An object reads one
 * file. Confined to one thread.
 */
final class RewriteFile {
    /** The conditions of a rule, a branch or a group that were read so far. */
    private static final class Level {
        final List<String> conditions = new ArrayList<>();
        /** For each condition, true if OR follows it, false if AND follows it. */
        final List<Boolean> alternatives = new ArrayList<>();

        final List<Entry> entries = new ArrayList<>();
        /** Condition that no earlier branch of the same {@code if} applies; null in the first branch. */
        @Nullable
        String earlier;

        /** Reason why a condition has no equivalent; null for none. */
        @Nullable
        String problem;

        boolean hasOperator;

        void add(String condition, boolean alternative) {
            conditions.add(condition);
            alternatives.add(alternative);
        }

        @Nullable
        String expression() {
            return RewriteCondition.join(conditions, alternatives);
        }
    }

    private final RewriteHook defaultHook;
    private final List<RewriteRule> rules = new ArrayList<>();
    private final Deque<Level> branches = new ArrayDeque<>();
    private final Deque<Level> groups = new ArrayDeque<>();
    private RewriteHook hook;

    private RewriteFile(RewriteHook defaultHook) {
        this.defaultHook = defaultHook;
        hook = defaultHook;
        branches.push(new Level());
    }

    /**
     * Returns the operators of a file, in order.
     *
     * @param defaultHook the hook of rules without a hook condition
     */
    static List<RewriteRule> read(SourceFile file, RewriteHook defaultHook) {
        RewriteFile reader = new RewriteFile(defaultHook);
        for (Words words : Words.of(file)) {
            reader.readLine(words);
        }
        return List.copyOf(reader.rules);
    }

    private void readLine(Words words) {
        switch (words.at(0).toLowerCase(Locale.ROOT)) {
            case "cond" -> readCondition(words);
            case "if" -> branches.push(new Level());
            case "elif" -> nextBranch(words.entry());
            case "else" -> nextBranch(words.entry());
            case "endif" -> {
                if (branches.size() > 1) {
                    branches.pop();
                }
            }
            default -> readOperator(words);
        }
        if (Set.of("if", "elif", "else", "endif").contains(words.at(0).toLowerCase(Locale.ROOT))) {
            words.entry().note("the line is a part of the conditions of the lines that follow");
        }
    }

    private Level level() {
        Level level = branches.peek();
        if (level == null) {
            throw new IllegalStateException("no level");
        }
        return level;
    }

    /** Begins the branch after {@code elif} or {@code else}. */
    private void nextBranch(Entry entry) {
        Level before = branches.pop();
        Level branch = new Level();
        String expression = before.expression();
        branch.problem = before.problem;
        if (expression == null || expression.equals(RewriteCondition.ALWAYS)) {
            branch.problem = "the branch before it applies always";
        } else {
            String negated = "!(" + expression + ")";
            branch.earlier = before.earlier == null
                    ? negated
                    : RewriteCondition.parenthesized(before.earlier) + " && " + negated;
        }
        branch.entries.addAll(before.entries);
        branch.entries.add(entry);
        branches.push(branch);
    }

    private void readCondition(Words words) {
        Level level = level();
        String name = words.at(1);
        if (!name.startsWith("%{") || !name.endsWith("}")) {
            words.entry().notMapped("the line is not a condition %{NAME}");
            level.problem = "a condition is not understood";
            return;
        }
        name = name.substring(2, name.length() - 1);
        Set<String> flags = new HashSet<>();
        String operand = "";
        for (int i = 2; i < words.words().size(); i++) {
            String word = words.at(i);
            if (word.startsWith("[") && word.endsWith("]")) {
                Arrays.stream(word.substring(1, word.length() - 1).split(",", -1))
                        .map(flag -> flag.strip().toUpperCase(Locale.ROOT))
                        .forEach(flags::add);
            } else {
                operand = operand.isEmpty() ? word : operand + " " + word;
            }
        }
        if (name.equals("GROUP")) {
            groups.push(new Level());
            level.entries.add(words.entry());
            return;
        }
        if (name.equals("GROUP:END")) {
            endGroup(words, flags);
            return;
        }
        if (level.hasOperator && branches.size() == 1 && groups.isEmpty()) {
            branches.pop();
            branches.push(new Level());
            level = level();
            hook = defaultHook;
        }
        level.entries.add(words.entry());
        RewriteHook named = RewriteHook.find(name);
        if (named != null) {
            hook = named;
            return;
        }
        try {
            (groups.isEmpty() ? level : groups.element())
                    .add(RewriteCondition.of(hook, name, operand, flags), flags.contains("OR"));
        } catch (UnknownConditionException e) {
            level.problem = e.reason();
            words.entry().notMapped(e.reason());
        }
    }

    private void endGroup(Words words, Set<String> flags) {
        Level level = level();
        level.entries.add(words.entry());
        if (groups.isEmpty()) {
            words.entry().notMapped("the line ends no group");
            level.problem = "a group is not understood";
            return;
        }
        String text = groups.pop().expression();
        if (text != null) {
            boolean negated = flags.contains("NOT");
            (groups.isEmpty() ? level : groups.element()).add(negated ? "!(" + text + ")" : text, flags.contains("OR"));
        }
    }

    private void readOperator(Words words) {
        level().hasOperator = true;
        List<String> conditions = new ArrayList<>();
        List<Entry> entries = new ArrayList<>();
        String problem = null;
        for (Level level : (Iterable<Level>) branches::descendingIterator) {
            String expression = level.expression();
            for (String text : Arrays.asList(level.earlier, expression)) {
                if (text != null && !text.equals(RewriteCondition.ALWAYS)) {
                    conditions.add(RewriteCondition.parenthesized(text));
                }
            }
            entries.addAll(level.entries);
            problem = problem == null ? level.problem : problem;
        }
        String when = conditions.isEmpty() ? null : String.join(" && ", conditions);
        rules.add(new RewriteRule(hook, when, problem, List.copyOf(entries), words));
    }
}
