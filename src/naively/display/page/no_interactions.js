const inter = null, together = () => [], togetherLines = together, leftOutKinds = () => "", interactions = () => $("interactions").remove();
