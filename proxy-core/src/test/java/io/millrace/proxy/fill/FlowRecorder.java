package io.millrace.proxy.fill;

/** Whether the origin may be read, and how often nobody was left to read for. */
final class FlowRecorder implements ResponseTee.Feed {
    volatile boolean open = true;
    int timesWithoutReaders;
    int timesTooLarge;

    @Override
    public void onFlow(boolean now) {
        open = now;
    }

    @Override
    public void onNoReaders() {
        timesWithoutReaders++;
    }

    @Override
    public void onTooLarge(long received) {
        timesTooLarge++;
    }
}
