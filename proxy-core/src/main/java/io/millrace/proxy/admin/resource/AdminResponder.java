package io.millrace.proxy.admin.resource;

import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** Sends the answer to a request. Thread-safe; calls after the first are ignored. */
public interface AdminResponder {
    /** Sends an answer. */
    void reply(AdminReply reply);

    /** Sends an error answer. */
    default void fail(AdminException error) {
        reply(AdminReply.error(error));
    }

    /**
     * When a stage completes, sends the answer that {@code render} makes of its result, or the error answer of its
     * failure.
     */
    default <T> void replyWhen(CompletionStage<T> stage, Function<? super T, AdminReply> render) {
        stage.whenComplete((result, failure) -> {
            if (failure == null) {
                reply(render.apply(result));
            } else {
                fail(FailureReply.exceptionOf(failure));
            }
        });
    }
}
