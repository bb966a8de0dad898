package io.millrace.launcher.varnish.syntax;

import io.millrace.launcher.importing.source.Entry;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A statement of a VCL subroutine, with its entry in the report. Confined to one thread.
 */
public final class Statement {
    private final String kind;
    private final Entry entry;
    private final String target;
    private final String operator;
    private final String value;
    private final @Nullable Condition condition;
    private final List<Statement> body = new ArrayList<>();
    private boolean handled;

    /**
     * Creates a statement.
     *
     * @param kind {@code set}, {@code unset}, {@code return}, {@code if}, {@code elsif}, {@code else}, {@code call},
     *     {@code new}, or the name of a function
     * @param target the variable, the subroutine, or the action
     * @param value the source of the right side or of the arguments
     */
    Statement(String kind, Entry entry, String target, String operator, String value, @Nullable Condition condition) {
        this.kind = kind;
        this.entry = entry;
        this.target = target;
        this.operator = operator;
        this.value = value;
        this.condition = condition;
    }

    /** The keyword or the function. */
    public String kind() {
        return kind;
    }

    /** The variable, the subroutine, or the action. */
    public String target() {
        return target;
    }

    /** The operator of {@code set}. */
    public String operator() {
        return operator;
    }

    /** The source of the right side or of the arguments, on one line. */
    public String value() {
        return value;
    }

    /** The condition of {@code if} and {@code elsif}; null for other statements. */
    @Nullable
    public Condition condition() {
        return condition;
    }

    /** The statements of a block. */
    public List<Statement> body() {
        return body;
    }

    /** Returns true if the statement has a block. */
    public boolean isBranch() {
        return kind.equals("if") || kind.equals("elsif") || kind.equals("else");
    }

    /** The line in the report. */
    public Entry entry() {
        return entry;
    }

    /** Marks the statement as translated, and returns its entry in the report. */
    public Entry markHandled() {
        handled = true;
        return entry;
    }

    /** Marks the statement as translated, with a note. A statement with only notes changes no setting. */
    public void note(String note) {
        markHandled().note(note);
    }

    /** Marks the statement, or a part of it, as having no equivalent. */
    public void notMapped(String why) {
        markHandled().notMapped(why);
    }

    /** Returns true once a part of the import has translated or reported the statement. */
    public boolean isHandled() {
        return handled;
    }
}
