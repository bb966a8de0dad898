package io.millrace.launcher.varnish;

import io.millrace.launcher.varnish.syntax.Condition;
import io.millrace.launcher.varnish.syntax.Statement;
import io.millrace.launcher.varnish.syntax.Vcl;
import java.util.ArrayList;
import java.util.List;

/**
 * The visitor of the statements of a subroutine, with the conditions of the enclosing blocks. Confined to one thread.
 */
abstract class Walker {
    /** Limit of nested calls of subroutines. */
    private static final int CALLS_MAX = 16;

    private final Vcl vcl;
    private int calls;
    private int chains;
    private int chain;
    private List<Condition> exact = List.of();

    Walker(Vcl vcl) {
        this.vcl = vcl;
    }

    /**
     * Translates a statement.
     *
     * @param around conditions of the enclosing blocks, all of which must be true
     */
    abstract void statement(Statement statement, List<Condition> around);

    /** Visits all statements of a subroutine and of the subroutines that it calls. */
    final void walk(String sub) {
        block(vcl.sub(sub), List.of(), List.of());
    }

    /**
     * Conditions under which the present statement is reached. They include the negations of earlier branches, which
     * {@link #statement} does not get for {@code elsif}.
     */
    final List<Condition> exact() {
        return exact;
    }

    /** Number of the innermost {@code if} around the present statement; 0 if there is none. */
    final int chain() {
        return chain;
    }

    private void block(List<Statement> statements, List<Condition> around, List<Condition> reached) {
        List<Condition> before = new ArrayList<>();
        int outer = chain;
        int own = chain;
        for (Statement each : statements) {
            if (each.isBranch()) {
                if (each.kind().equals("if")) {
                    before.clear();
                    own = ++chains;
                }
                List<Condition> inner = new ArrayList<>(around);
                List<Condition> exactly = new ArrayList<>(reached);
                before.forEach(one -> exactly.add(new Condition.Not(one)));
                Condition condition = each.condition();
                if (condition == null) {
                    before.forEach(one -> inner.add(new Condition.Not(one)));
                } else {
                    inner.add(condition);
                    exactly.add(condition);
                    before.add(condition);
                }
                if (!each.isHandled()) {
                    each.note("see the statements in the block");
                }
                chain = own;
                block(each.body(), inner, exactly);
                chain = outer;
            } else if (each.kind().equals("call")) {
                call(each, around, reached);
            } else {
                exact = reached;
                statement(each, around);
            }
        }
    }

    private void call(Statement call, List<Condition> around, List<Condition> reached) {
        if (!vcl.subs().containsKey(call.target())) {
            call.notMapped("no subroutine has this name");
        } else if (calls >= CALLS_MAX) {
            call.notMapped("subroutines call each other more than " + CALLS_MAX + " levels deep");
        } else {
            call.note("see the statements of the subroutine");
            calls++;
            block(vcl.sub(call.target()), around, reached);
            calls--;
        }
    }
}
