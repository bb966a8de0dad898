package io.millrace.proxy.admin.resource;

import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** Takes the one answer to a request. Thread-safe: may be called on any thread; every call after the first is ignored. */
public interface AdminResponder {
    /** Answers. */
    void reply(AdminReply reply);

    /** Answers with an error. */
    default void fail(AdminException error) {
        reply(AdminReply.error(error));
    }

    /** Answers when {@code stage} completes: with what {@code render} makes of its result, or with its failure. */
    default <T> void replyWhen(CompletionStage<T> stage, Function<? super T, AdminReply> render) {
        stage.whenComplete((result, failure) -> {
            if (failure == null) {
                reply(render.apply(result));
            } else {
                reply(FailureReply.of(failure));
            }
        });
    }
}
