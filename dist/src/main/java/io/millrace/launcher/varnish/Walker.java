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
        block(vcl.sub(sub), List.of());
    }

    /** Number of the innermost {@code if} around the present statement; 0 if there is none. */
    final int chain() {
        return chain;
    }

    private void block(List<Statement> statements, List<Condition> around) {
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
                Condition condition = each.condition();
                if (condition == null) {
                    before.forEach(one -> inner.add(new Condition.Not(one)));
                } else {
                    inner.add(condition);
                    before.add(condition);
                }
                if (!each.isHandled()) {
                    each.note("see the statements in the block");
                }
                chain = own;
                block(each.body(), inner);
                chain = outer;
            } else if (each.kind().equals("call")) {
                call(each, around);
            } else {
                statement(each, around);
            }
        }
    }

    private void call(Statement call, List<Condition> around) {
        if (!vcl.subs().containsKey(call.target())) {
            call.notMapped("no subroutine has this name");
        } else if (calls >= CALLS_MAX) {
            call.notMapped("subroutines call each other more than " + CALLS_MAX + " levels deep");
        } else {
            call.note("see the statements of the subroutine");
            calls++;
            block(vcl.sub(call.target()), around);
            calls--;
        }
    }
}
