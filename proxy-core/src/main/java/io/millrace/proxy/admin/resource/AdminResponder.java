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
     * Sends an answer when a stage completes. It is the answer that {@code render} returns for the result, or an error
     * answer if the stage failed.
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
