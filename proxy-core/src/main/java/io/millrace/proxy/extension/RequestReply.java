package io.millrace.proxy.extension;

import io.millrace.proxy.spi.Answer;
import io.millrace.proxy.spi.RequestHook;
import io.millrace.proxy.spi.RequestView;
import java.util.Objects;

/** The result of a hook for received requests. Threads as in {@link HookReply}. */
final class RequestReply extends HookReply<RequestView> implements RequestHook.Reply {
    RequestReply(LoadedExtension extension, Hook hook) {
        super(extension, hook);
    }

    @Override
    public void answer(Answer answer) {
        give(Objects.requireNonNull(answer));
    }
}
