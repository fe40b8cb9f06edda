import QtQuick
Window { width: 320; height: 240; visible: true
    Rectangle { anchors.fill: parent; gradient: Gradient {
        GradientStop { position: 0; color: "navy" }
        GradientStop { position: 1; color: "orange" } } }
    Text { anchors.centerIn: parent; text: "Qt Quick"; font.pixelSize: 40; color: "white"
        NumberAnimation on rotation { from: 0; to: 360; duration: 2000; loops: -1 } } }
