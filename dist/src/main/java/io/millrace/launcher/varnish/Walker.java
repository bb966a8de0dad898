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
    /** Number of calls of subroutines that enclose the current statement. */
    private int callDepth;
    /** Number of {@code if} statements that were visited. */
    private int ifCount;
    /** Number of the innermost {@code if} around the current statement. */
    private int chain;
    /** The {@code branches} of {@link PathConditions} for the current statement. */
    private List<Condition> exact = List.of();
    /** Negations of the conditions under which an earlier statement ended the subroutine. */
    private final List<Condition> passedReturns = new ArrayList<>();
    /** Whether an earlier statement ended the visited subroutine in any case. */
    private boolean ended;
    /** Whether {@link #ended} is true only until the end of the called subroutine. */
    private boolean endedCall;
    /** Negations of the conditions under which the called subroutine has returned to its caller. */
    private List<Condition> returned = new ArrayList<>();

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
        passedReturns.clear();
        ended = false;
        endedCall = false;
        block(vcl.sub(sub), List.of(), List.of());
    }

    /**
     * The conditions under which a statement is reached (its path conditions).
     *
     * @param branches conditions of the enclosing blocks, and the negations of their earlier branches
     * @param passedReturns negations of the conditions of earlier {@code return} statements, which did not apply
     */
    record PathConditions(List<Condition> branches, List<Condition> passedReturns) {}

    /**
     * Returns the conditions under which the current statement is reached. They include the negations of earlier
     * branches, which {@link #statement} does not get for {@code elsif}.
     */
    final PathConditions pathConditions() {
        return new PathConditions(
                exact,
                passedReturns.stream().filter(each -> !exact.contains(each)).toList());
    }

    /** Number of the innermost {@code if} around the current statement; 0 if there is none. */
    final int chain() {
        return chain;
    }

    private void block(List<Statement> statements, List<Condition> around, List<Condition> path) {
        List<Condition> before = new ArrayList<>();
        int outer = chain;
        int currentIf = chain;
        for (Statement each : statements) {
            if (ended) {
                skip(each);
            } else if (each.isBranch()) {
                if (each.kind().equals("if")) {
                    before.clear();
                    currentIf = ++ifCount;
                }
                List<Condition> inner = new ArrayList<>(around);
                List<Condition> exactly = new ArrayList<>(path);
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
                chain = currentIf;
                block(each.body(), inner, exactly);
                chain = outer;
            } else if (each.kind().equals("call")) {
                call(each, around, path);
            } else {
                exact = path;
                if (isReturnToCaller(each)) {
                    each.note("the statement ends the called subroutine");
                } else {
                    statement(each, around);
                }
                addReturn(each, path);
            }
        }
    }

    private static boolean isReturnToCaller(Statement each) {
        return each.kind().equals("return") && each.target().isEmpty();
    }

    private static void skip(Statement each) {
        if (!each.isHandled()) {
            each.note("the statement is never reached: an earlier return ends the subroutine");
        }
        each.body().forEach(Walker::skip);
    }

    /**
     * Returns true if later statements cannot change the response to a request for which {@code return (target)} ends a
     * subroutine. The rules of later statements then need not exclude this request.
     */
    boolean isFinal(String target) {
        return List.of("synth", "purge", "fail", "error").contains(target);
    }

    /** Records a {@code return}, unless no later statement can change its response. */
    private void addReturn(Statement each, List<Condition> path) {
        if (!each.kind().equals("return")) {
            return;
        }
        ended = path.isEmpty();
        endedCall = ended && isReturnToCaller(each);
        if (!path.isEmpty() && !isFinal(each.target())) {
            Condition condition = path.size() == 1 ? path.get(0) : new Condition.All(List.copyOf(path));
            Condition negation = condition instanceof Condition.Not not ? not.inner() : new Condition.Not(condition);
            if (!passedReturns.contains(negation)) {
                passedReturns.add(negation);
                if (isReturnToCaller(each)) {
                    returned.add(negation);
                }
            }
        }
    }

    private void call(Statement call, List<Condition> around, List<Condition> path) {
        if (!vcl.subs().containsKey(call.target())) {
            call.notMapped("no subroutine has this name");
        } else if (callDepth >= CALLS_MAX) {
            call.notMapped("subroutines call each other more than " + CALLS_MAX + " levels deep");
        } else {
            call.note("see the statements of the subroutine");
            callDepth++;
            List<Condition> ofCaller = returned;
            returned = new ArrayList<>();
            block(vcl.sub(call.target()), around, path);
            passedReturns.removeAll(returned);
            returned = ofCaller;
            ended = ended && !endedCall;
            callDepth--;
        }
    }
}
